interface BatchRunnerOptions<Item extends { id: string }> {
  atOnce: number;
  /** The due items, without those in progress; at most `limit` of them. */
  nextItems(limit: number, underWay: string[]): Promise<Item[]>;
  /** Never rejects. */
  act(item: Item): Promise<void>;
}

export interface BatchRunner {
  /** Resolves with the number of processed items, when none is due or in progress. */
  run(): Promise<number>;
}

/** Processes due items, several in parallel, until none is left. A second call during a run makes it look again. */
export function createBatchRunner<Item extends { id: string }>({
  atOnce,
  nextItems,
  act,
}: BatchRunnerOptions<Item>): BatchRunner {
  const underWay = new Map<string, Promise<void>>();
  let running: Promise<number> | undefined;
  let newRequest = Promise.withResolvers<void>();
  let requested = false;

  function begin(item: Item): void {
    underWay.set(
      item.id,
      act(item).finally(() => underWay.delete(item.id)),
    );
  }

  async function work(): Promise<number> {
    let done = 0;
    for (;;) {
      requested = false;
      newRequest = Promise.withResolvers<void>();
      const limit = atOnce - underWay.size;
      const items = limit > 0 ? await nextItems(limit, [...underWay.keys()]) : [];
      for (const item of items) begin(item);
      done += items.length;
      if (underWay.size > 0) await Promise.race([...underWay.values(), newRequest.promise]);
      else if (!requested) return done;
    }
  }

  /** A failed look (the store is unavailable) ends the run after the items in progress. */
  async function runOnce(): Promise<number> {
    try {
      return await work();
    } finally {
      await Promise.all(underWay.values());
      running = undefined;
    }
  }

  return {
    run() {
      requested = true;
      newRequest.resolve();
      running ??= runOnce();
      return running;
    },
  };
}
