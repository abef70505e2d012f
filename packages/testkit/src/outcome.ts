/** How the promise ends within the time, in milliseconds: its value, its error, or "pending". */
export async function outcome(promise: Promise<unknown>, withinMs = 1_000): Promise<unknown> {
  let timer: NodeJS.Timeout | undefined;
  const pending = new Promise((resolve) => {
    timer = setTimeout(resolve, withinMs, "pending");
  });
  try {
    return await Promise.race([promise, pending]);
  } catch (error) {
    return error;
  } finally {
    clearTimeout(timer);
  }
}
