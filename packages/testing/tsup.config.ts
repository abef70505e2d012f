import { defineConfig } from "tsup";

export default defineConfig({
  entry: {
    index: "src/index.ts",
    conformance: "src/conformance.ts",
    simulator: "src/simulator/index.ts",
  },
  format: ["esm", "cjs"],
  target: "es2022",
  // Members marked @internal are for the simulator's own use.
  dts: { compilerOptions: { stripInternal: true } },
  clean: true,
  sourcemap: true,
});
