/** The queue before the password hash is full, or a turn did not come in time. HTTP answers as PASSWORD_QUEUE_FULL_STATUS says. */
export class PasswordQueueFull extends Error {
  override name = 'PasswordQueueFull';
  /** `full`: there was no place in the queue; `timeout`: its turn did not come in time. */
  readonly reason: 'full' | 'timeout';
  constructor(message: string, reason: 'full' | 'timeout' = 'full') {
    super(message);
    this.reason = reason;
  }
}

interface Waiting {
  start: () => void;
  refuse: (error: PasswordQueueFull) => void;
  timer: NodeJS.Timeout;
}

export interface BoundedQueue {
  /** @throws {PasswordQueueFull} */
  run<T>(job: () => Promise<T>): Promise<T>;
  /** How many run and wait at this moment. */
  state(): { running: number; waiting: number };
}

/**
 * Lets at most `running` jobs run at once and at most `waiting` wait, each at most `waitMs`. Hashing takes some 20 ms
 * of a core: without a bound, a burst of sign-ins would make every later one wait longer than any browser does.
 */
export function boundedQueue(limits: { running: number; waiting: number; waitMs: number }): BoundedQueue {
  let running = 0;
  // A Set keeps the order and removes from the middle in constant time.
  const line = new Set<Waiting>();

  function release(): void {
    running -= 1;
    const next = line.values().next().value;
    if (next) {
      line.delete(next);
      clearTimeout(next.timer);
      running += 1;
      next.start();
    }
  }

  function turn(): Promise<void> {
    if (running < limits.running) {
      running += 1;
      return Promise.resolve();
    }
    if (line.size >= limits.waiting) return Promise.reject(new PasswordQueueFull('the password queue is full'));
    return new Promise((resolve, reject) => {
      const entry: Waiting = {
        start: resolve,
        refuse: reject,
        timer: setTimeout(() => {
          line.delete(entry);
          entry.refuse(new PasswordQueueFull('no turn in the password queue in time', 'timeout'));
        }, limits.waitMs),
      };
      line.add(entry);
    });
  }

  return {
    async run(job) {
      await turn();
      try {
        return await job();
      } finally {
        release();
      }
    },
    state: () => ({ running, waiting: line.size }),
  };
}
