import { defineConfig } from "tsup";

export default defineConfig({
  entry: ["src/index.ts"],
  format: ["esm", "cjs"],
  target: "es2022",
  // Else programs whose `lib` has only DOM or workers' types do not know AsyncDisposable.
  dts: { banner: '/// <reference lib="esnext.disposable" />' },
  clean: true,
  sourcemap: true,
});
