/**
 * A call while nothing runs starts a run; calls meanwhile share the one run after it, which reads everything later than
 * they called. So ten events about one purchase are two runs.
 * @param act by a key: runs of different keys are independent
 */
export function coalesceByKey<Key extends string, T>(act: (key: Key) => Promise<T>): (key: Key) => Promise<T> {
  const running = new Map<Key, Promise<T>>();
  const next = new Map<Key, Promise<T>>();

  function begin(key: Key): Promise<T> {
    const turn = act(key).finally(() => {
      if (running.get(key) === turn) running.delete(key);
    });
    running.set(key, turn);
    return turn;
  }

  return (key) => {
    const waiting = next.get(key);
    if (waiting) return waiting;
    const current = running.get(key);
    if (!current) return begin(key);
    const following = current
      .catch(() => {})
      .then(() => {
        next.delete(key);
        return begin(key);
      });
    next.set(key, following);
    return following;
  };
}
