/**
 * Whoever asks while nothing runs begins; whoever asks meanwhile shares the one turn after it, which reads everything later
 * than they asked. So ten events about one purchase are two turns.
 * @param act by a key: turns of different keys know nothing of each other
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
