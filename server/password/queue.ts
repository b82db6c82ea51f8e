import { ipBuckets } from '../rate-limits/index.ts';

/** The queue before the password hash has no place for a job. HTTP answers as PASSWORD_QUEUE_FULL_STATUS says; a full share is always 429. */
export class PasswordQueueFullError extends Error {
  override name = 'PasswordQueueFull';
  /**
   * `full`: there was no place in the queue; `timeout`: its turn did not come in time; `share`: the account, or the network,
   * has as many jobs under way as one may have.
   */
  readonly reason: QueueRefusal;
  constructor(message: string, reason: QueueRefusal = 'full') {
    super(message);
    this.reason = reason;
  }
}

export type QueueRefusal = 'full' | 'timeout' | 'share';

/** For whom a password is hashed: jobs share the queue by account and by network. `operator`: a command, or the seed of the sandbox. */
export type PasswordWork =
  | 'operator'
  | {
      /** As it was typed, normalised: counted whether or not such a member exists. */
      account: string;
      ip: string;
      /** The known device's id, when this browser has signed in to this account before. */
      device?: string | undefined;
    };

/** How many jobs may run or wait at a time. */
export interface QueueShares {
  /** Of one account from unknown devices, and as many again from its known devices. */
  account: number;
  /** From one address by unknown devices; wider networks have more, as `ipBuckets` says. */
  address: number;
}

export const usualShares: QueueShares = { account: 4, address: 10 };

/** One account or network that has jobs under way. */
interface Share {
  /** Jobs that run or wait. */
  held: number;
  /** When its next job is due, in the queue's own time. */
  due: number;
}

interface QueuedTask {
  due: number;
  start: () => void;
}

export interface BoundedQueue {
  /** @throws {PasswordQueueFullError} */
  run<T>(job: () => Promise<T>, work?: PasswordWork): Promise<T>;
  /** How many run and wait at this moment. */
  state(): { running: number; waiting: number };
}

/**
 * Counts the jobs of accounts and networks, in this process; what has none under way is forgotten. Says when a job is due by
 * start-time fair queueing: at once where nothing else of its account and network is under way, else one turn later for each.
 */
function shareBook(shares: QueueShares) {
  const book = new Map<string, Share>();

  /** The known devices of an account are counted apart and by no network: strangers must not take their places. */
  function toLimits(work: PasswordWork): { key: string; max: number; times: number }[] {
    if (work === 'operator') return [];
    const { account, ip, device } = work;
    if (device !== undefined) return [{ key: `devices ${account}`, max: shares.account, times: 1 }];
    const networks = ipBuckets(ip).map(({ bucket, factor }) => ({
      ...{ key: `network ${bucket}`, max: shares.address * factor, times: factor },
    }));
    return [{ key: `account ${account}`, max: shares.account, times: 1 }, ...networks];
  }

  return {
    /** @throws {PasswordQueueFullError} */
    take(work: PasswordWork, nowDue: number): { due: number; giveBack(): void } {
      const limits = toLimits(work);
      if (limits.some(({ key, max }) => (book.get(key)?.held ?? 0) >= max)) {
        throw new PasswordQueueFullError('too many passwords of one account or network are being checked', 'share');
      }
      const due = Math.max(nowDue, ...limits.map(({ key }) => book.get(key)?.due ?? nowDue));
      for (const { key, times } of limits) {
        const held = (book.get(key)?.held ?? 0) + 1;
        book.set(key, { held, due: due + 1 / times });
      }
      const giveBack = () => {
        for (const { key } of limits) {
          const share = book.get(key);
          if (share === undefined) continue;
          share.held -= 1;
          if (share.held === 0) book.delete(key);
        }
      };
      return { due, giveBack };
    },
  };
}

/**
 * Lets at most `running` jobs run at once and at most `waiting` wait, each at most `waitMs`. Hashing takes some 20 ms
 * of a core: without a bound, a burst of sign-ins would make every later one wait longer than any browser does. A free
 * place goes to the job that is due first, and of several to the one that came first: one member who sends many right
 * passwords takes no turn from another.
 */
export function boundedQueue(limits: {
  running: number;
  waiting: number;
  waitMs: number;
  shares?: QueueShares;
}): BoundedQueue {
  let running = 0;
  // The queue's own time: when the job was due that began last.
  let nowDue = 0;
  // A Set keeps the order and removes from the middle in constant time.
  const line = new Set<QueuedTask>();
  const book = shareBook(limits.shares ?? usualShares);

  function next(): QueuedTask | undefined {
    let first: QueuedTask | undefined;
    for (const entry of line) {
      if (first === undefined || entry.due < first.due) first = entry;
    }
    return first;
  }

  function begin(due: number): void {
    running += 1;
    nowDue = due;
  }

  function release(): void {
    running -= 1;
    const entry = next();
    if (!entry) return;
    line.delete(entry);
    begin(entry.due);
    entry.start();
  }

  function turn(due: number): Promise<void> {
    if (running < limits.running) {
      begin(due);
      return Promise.resolve();
    }
    if (line.size >= limits.waiting) return Promise.reject(new PasswordQueueFullError('the password queue is full'));
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        line.delete(entry);
        reject(new PasswordQueueFullError('no turn in the password queue in time', 'timeout'));
      }, limits.waitMs);
      const start = () => {
        clearTimeout(timer);
        resolve();
      };
      const entry: QueuedTask = { due, start };
      line.add(entry);
    });
  }

  return {
    async run(job, work = 'operator') {
      const { due, giveBack } = book.take(work, nowDue);
      try {
        await turn(due);
        try {
          return await job();
        } finally {
          release();
        }
      } finally {
        giveBack();
      }
    },
    state: () => ({ running, waiting: line.size }),
  };
}
