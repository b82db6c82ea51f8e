/**
 * Loads a value at the first call and shares it with all later ones. A failed load is forgotten, so the next call tries
 * again; Node forgets a module whose files it could not read, too.
 */
export function once<T>(load: () => Promise<T>): () => Promise<T> {
  let value: Promise<T> | undefined;
  return () => {
    value ??= load().catch((error: unknown) => {
      value = undefined;
      throw error;
    });
    return value;
  };
}
