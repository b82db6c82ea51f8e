/** Values before a transaction changed them; `was` is undefined for new ones. */
type Log<V> = Map<string, { was: V | undefined; place: number }>;

/** Values by id in the order of their creation, with a log for the undo of transactions, which can be nested. */
export function createUndoableMap<V extends object>() {
  let values = new Map<string, V>();
  let places = new Map<string, number>();
  let lastPlace = 0;
  const logs: Log<V>[] = [];

  const getPlace = (id: string) => places.get(id) ?? 0;

  /** Call it before each change of a value. */
  function remember(id: string) {
    const log = logs.at(-1);
    if (!log) throw new Error('the state is changed outside of a transaction');
    if (!log.has(id)) log.set(id, { was: structuredClone(values.get(id)), place: getPlace(id) });
  }

  function undo(log: Log<V>) {
    const moved = [...log].some(([id, { was, place }]) => was !== undefined && getPlace(id) !== place);
    for (const [id, { was, place }] of log) {
      if (was === undefined) {
        values.delete(id);
        places.delete(id);
      } else {
        values.set(id, was);
        places.set(id, place);
      }
    }
    // A restored value returns to its old place: lists are in the order of creation.
    if (moved) values = new Map([...values].sort(([a], [b]) => getPlace(a) - getPlace(b)));
  }

  return {
    get: (id: string): V | undefined => values.get(id),
    values: () => values.values(),
    remember,
    set(id: string, value: V) {
      remember(id);
      if (!values.has(id)) places.set(id, ++lastPlace);
      values.set(id, value);
    },
    delete(id: string) {
      remember(id);
      values.delete(id);
      places.delete(id);
    },
    /** The value before the outermost transaction, if that has changed it. */
    original: (id: string): V | undefined => logs[0]?.get(id)?.was,
    begin() {
      logs.push(new Map());
    },
    /** Ends the innermost transaction. @returns whether it was the outermost */
    end(keeps: boolean): boolean {
      const log = logs.pop() ?? new Map();
      const outer = logs.at(-1);
      if (!keeps) undo(log);
      else if (outer) for (const [id, was] of log) if (!outer.has(id)) outer.set(id, was);
      return outer === undefined;
    },
    load(entries: [id: string, value: V][]) {
      values = new Map(entries);
      lastPlace = values.size;
      places = new Map([...values.keys()].map((id, index) => [id, index]));
    },
  };
}
