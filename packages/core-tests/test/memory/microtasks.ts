/** Acts so many microtasks from now: in the middle of what a reply sets in motion. */
export async function afterMicrotasks(count: number, act: () => void): Promise<void> {
  for (let left = count; left > 0; left--) await undefined;
  act();
}
