/** Values before a transaction changed them; undefined for new ones. */
type Log<V> = Map<string, { value: V | undefined; position: number }>;

/** Values by id in the order of their creation, with a log for the undo of transactions, which can be nested. */
export function createUndoableMap<V extends object>() {
  let values = new Map<string, V>();
  let positions = new Map<string, number>();
  let lastPosition = 0;
  const logs: Log<V>[] = [];

  const getPosition = (id: string) => positions.get(id) ?? 0;

  /** Call it before each change of a value. */
  function remember(id: string) {
    const log = logs.at(-1);
    if (!log) throw new Error('the state is changed outside of a transaction');
    if (!log.has(id)) log.set(id, { value: structuredClone(values.get(id)), position: getPosition(id) });
  }

  function undo(log: Log<V>) {
    const moved = [...log].some(([id, { value, position }]) => value !== undefined && getPosition(id) !== position);
    for (const [id, { value, position }] of log) {
      if (value === undefined) {
        values.delete(id);
        positions.delete(id);
      } else {
        values.set(id, value);
        positions.set(id, position);
      }
    }
    // A restored value returns to its old position: lists are in the order of creation.
    if (moved) values = new Map([...values].sort(([a], [b]) => getPosition(a) - getPosition(b)));
  }

  return {
    get: (id: string): V | undefined => values.get(id),
    values: () => values.values(),
    remember,
    set(id: string, value: V) {
      remember(id);
      if (!values.has(id)) positions.set(id, ++lastPosition);
      values.set(id, value);
    },
    delete(id: string) {
      remember(id);
      values.delete(id);
      positions.delete(id);
    },
    /** The value before the outermost transaction, if that has changed it. */
    original: (id: string): V | undefined => logs[0]?.get(id)?.value,
    begin() {
      logs.push(new Map());
    },
    /** Ends the innermost transaction. @returns whether it was the outermost */
    end(keeps: boolean): boolean {
      const log = logs.pop() ?? new Map();
      const outer = logs.at(-1);
      if (!keeps) undo(log);
      else if (outer) for (const [id, entry] of log) if (!outer.has(id)) outer.set(id, entry);
      return outer === undefined;
    },
    load(entries: [id: string, value: V][]) {
      values = new Map(entries);
      lastPosition = values.size;
      positions = new Map([...values.keys()].map((id, index) => [id, index]));
    },
  };
}
