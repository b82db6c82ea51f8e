/**
 * Does what is due, some of it at once, until nothing is left. A second call while it works makes it look again.
 * @param look what is due, leaving out what is under way; at most `room` of it
 * @param act never rejects
 */
export interface LaneSettings<Item extends { id: string }> {
  atOnce: number;
  look(room: number, underWay: string[]): Promise<Item[]>;
  act(item: Item): Promise<void>;
}

export interface Lane {
  /** Resolves with how much was done, when nothing is due and nothing under way. */
  run(): Promise<number>;
}

export function createLane<Item extends { id: string }>({ atOnce, look, act }: LaneSettings<Item>): Lane {
  const underWay = new Map<string, Promise<void>>();
  let running: Promise<number> | undefined;
  let again = Promise.withResolvers<void>();
  let asked = false;

  function begin(item: Item): void {
    underWay.set(
      item.id,
      act(item).finally(() => underWay.delete(item.id)),
    );
  }

  async function work(): Promise<number> {
    let done = 0;
    for (;;) {
      asked = false;
      again = Promise.withResolvers<void>();
      const room = atOnce - underWay.size;
      const items = room > 0 ? await look(room, [...underWay.keys()]) : [];
      for (const item of items) begin(item);
      done += items.length;
      if (underWay.size > 0) await Promise.race([...underWay.values(), again.promise]);
      else if (!asked) return done;
    }
  }

  /** A look that fails (the store is away) ends the run once what is under way is over. */
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
      asked = true;
      again.resolve();
      running ??= runOnce();
      return running;
    },
  };
}
