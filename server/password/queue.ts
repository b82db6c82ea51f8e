import { HttpError, type HttpExchange, ipBuckets, setRetryAfter } from '../http/index.ts';

/**
 * The queue of the password hash is full. HTTP answers with PASSWORD_QUEUE_FULL_STATUS; a used-up share is always 429.
 */
export class PasswordQueueFullError extends Error {
  override name = 'PasswordQueueFull';
  /**
   * `full`: no free place in the queue; `timeout`: its turn did not come in time; `share`: the account, or the network,
   * has its maximum of jobs in progress.
   */
  readonly reason: QueueRefusal;
  constructor(message: string, reason: QueueRefusal = 'full') {
    super(message);
    this.reason = reason;
  }
}

type QueueRefusal = 'full' | 'timeout' | 'share';

/**
 * The owner of a hashing job: jobs share the queue by account and by network. `operator`: a command, or the seed of the
 * sandbox.
 */
export type PasswordWork =
  | 'operator'
  | {
      /** The typed identifier, normalized: counted whether or not the user exists. */
      account: string;
      ip: string;
      /** The known device's id, if this browser has signed in to this account before. */
      device?: string | undefined;
    };

/** Maximum numbers of jobs that run or wait. */
export interface QueueShares {
  /** For one account from unknown devices, and as many again from its known devices. */
  account: number;
  /** For one address of unknown devices; wider networks have more, as `ipBuckets` defines. */
  address: number;
}

const usualShares: QueueShares = { account: 4, address: 10 };

/** One account or network with jobs in progress. */
interface Share {
  /** Jobs that run or wait. */
  held: number;
  /** Due time of its next job, in the queue's virtual time. */
  due: number;
}

interface QueuedTask {
  due: number;
  start: () => void;
}

interface BoundedQueue {
  /** @throws {PasswordQueueFullError} */
  run<T>(job: () => Promise<T>, work?: PasswordWork): Promise<T>;
  /** The current numbers of running and waiting jobs. */
  state(): { running: number; waiting: number };
  /** The time after which the next job begins, by what the last ones have taken, in milliseconds. */
  turnMs(): number;
}

/** The weight of the newest job in the mean. */
const newest = 1 / 16;

/** The time that the last jobs took. */
function jobClock() {
  let meanMs = 0;
  return {
    async measure<T>(job: () => Promise<T>): Promise<T> {
      const beganMs = performance.now();
      try {
        return await job();
      } finally {
        meanMs += (performance.now() - beganMs - meanMs) * newest;
      }
    },
    meanMs: () => meanMs,
  };
}

/**
 * Counts the jobs of accounts and networks in this process; entries without jobs are removed. Computes due times by
 * start-time fair queueing: at once if the account and network have no other job, else one turn later for each.
 */
function shareBook(shares: QueueShares) {
  const book = new Map<string, Share>();

  /** Known devices of an account are counted separately and under no network: strangers must not take their places. */
  function toLimits(work: PasswordWork): { key: string; max: number; times: number }[] {
    if (work === 'operator') return [];
    const { account, ip, device } = work;
    if (device !== undefined) return [{ key: `devices ${account}`, max: shares.account, times: 1 }];
    const networks = ipBuckets(ip).map(({ bucket, factor }) => ({
      key: `network ${bucket}`,
      max: shares.address * factor,
      times: factor,
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
 * Runs at most `running` jobs at once and lets at most `waiting` wait, each at most `waitMs`. Hashing takes some 20 ms
 * of a core: without a bound, a burst of sign-ins would delay every later one beyond any browser's timeout. A free
 * place goes to the job that is due first, then to the oldest, so that one user with many right passwords does not
 * delay others.
 */
export function boundedQueue(limits: {
  running: number;
  waiting: number;
  waitMs: number;
  shares?: QueueShares;
}): BoundedQueue {
  let running = 0;
  // The queue's virtual time: the due time of the last started job.
  let nowDue = 0;
  // A Set keeps the order and removes from the middle in constant time.
  const line = new Set<QueuedTask>();
  const book = shareBook(limits.shares ?? usualShares);
  const clock = jobClock();

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
          return await clock.measure(job);
        } finally {
          release();
        }
      } finally {
        giveBack();
      }
    },
    state: () => ({ running, waiting: line.size }),
    turnMs: () => clock.meanMs() / limits.running,
  };
}

/** The configured answer while too many passwords wait to be hashed. */
export interface QueueFullAnswer {
  status: number;
  retrySeconds: number;
}

/** Too many passwords wait to be hashed; `status` is that of the answer. */
export interface Busy {
  kind: 'busy';
  status: number;
}

/** The caller's own share is used up: too many requests, whatever a full queue answers (RFC 6585, section 4). */
const toStatus = ({ reason }: PasswordQueueFullError, { status }: QueueFullAnswer) =>
  reason === 'share' ? 429 : status;

/** Runs work with password hashing, for a page. If too many wait already, the answer has set Retry-After by then. */
export async function hashForPage<V>(
  { res }: Pick<HttpExchange, 'res'>,
  { queueFull }: { queueFull: QueueFullAnswer },
  act: () => Promise<V>,
): Promise<V | Busy> {
  try {
    return await act();
  } catch (error) {
    if (!(error instanceof PasswordQueueFullError)) throw error;
    setRetryAfter(res, queueFull.retrySeconds * 1000);
    return { kind: 'busy', status: toStatus(error, queueFull) };
  }
}

/**
 * The same for a call of the JSON API.
 * @throws {HttpError} `busy` (503) or `tooMany` (429) if too many wait already
 */
export async function hashForApi<V>({ queueFull }: { queueFull: QueueFullAnswer }, act: () => Promise<V>): Promise<V> {
  try {
    return await act();
  } catch (error) {
    if (!(error instanceof PasswordQueueFullError)) throw error;
    throw new HttpError(toStatus(error, queueFull) === 429 ? 'tooMany' : 'busy', {
      detail: error.message,
      retryAfterSeconds: queueFull.retrySeconds,
    });
  }
}
