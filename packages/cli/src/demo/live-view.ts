import { createLogUpdate } from "log-update";
import type { Output } from "../terminal.ts";
import { frameText } from "./frame.ts";
import { secondsText } from "./text.ts";
import type { Colors, Scene, View } from "./view.ts";

/** One frame redrawn in place at the bottom; what happens is written above it and stays. */
export class LiveView implements View {
  readonly colors: Colors;
  readonly #draw: ReturnType<typeof createLogUpdate>;
  #frame: string | undefined;
  #closed = false;

  constructor(stdout: Output, colors: Colors) {
    this.colors = colors;
    this.#draw = createLogUpdate(stdout);
  }

  tell(elapsedMs: number, text: string): void {
    this.#draw.persist(`${this.colors.dim(secondsText(elapsedMs))}  ${text}\n`);
    if (this.#frame !== undefined) this.#draw(this.#frame);
  }

  /** The table shows it. */
  turn(): void {}

  show(scene: Scene): void {
    this.#frame = frameText(scene, this.colors);
    this.#draw(this.#frame);
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#draw.clear();
    // Brings the cursor back.
    this.#draw.done();
  }
}
