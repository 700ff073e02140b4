/** Runs a function at once, and at most once more per period however often it is asked for. */
export function throttle(periodMs: number, run: () => void): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let again = false;
  const rest = () => {
    timer = undefined;
    if (again) fire();
  };
  const fire = () => {
    again = false;
    timer = setTimeout(rest, periodMs);
    run();
  };
  return () => {
    if (timer === undefined) fire();
    else again = true;
  };
}
