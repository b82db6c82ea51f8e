import { createHmac } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { StripeEvent } from './engine/index.ts';

/** The target of events, and the endpoint's signing secret. */
export interface WebhookTarget {
  url: string;
  secret: string;
}

interface Delivered {
  event: StripeEvent;
  /** HTTP status; 0 without an answer. */
  status: number;
}

interface DeliverOptions {
  /** The order; by default that of the events. */
  order?: (events: StripeEvent[]) => StripeEvent[];
  /** Each two times. */
  twice?: boolean;
}

export interface Webhooks {
  /**
   * `prompt`: one after another as they happen, with a few retries unless the answer is 2xx; `held`: stored until
   * `deliver`.
   */
  mode: 'prompt' | 'held';
  /** Nothing is sent without one; may be set later. */
  target?: WebhookTarget;
  waiting(): readonly StripeEvent[];
  /** Delivers the pending events, each once (or twice), and resolves when all were answered. */
  deliver(options?: DeliverOptions): Promise<Delivered[]>;
  /** Drops the pending events. */
  drop(): void;
  /** Resolves when no delivery is in progress. */
  idle(): Promise<void>;
}

/** Between attempts. Stripe's own are hours apart. */
const pausesMs = [100, 500, 2_000];
const timeoutMs = 15_000;

/** `Stripe-Signature` of a body (docs.stripe.com/webhooks#verify-manually). */
function signPayload(body: string, secret: string, atSeconds = Math.floor(Date.now() / 1_000)): string {
  const digest = createHmac('sha256', secret).update(`${atSeconds}.${body}`).digest('hex');
  return `t=${atSeconds},v1=${digest}`;
}

interface WebhookOptions {
  target: WebhookTarget | undefined;
  /** The visible form of an event. */
  view(event: StripeEvent): unknown;
  log(line: string): void;
  /** The pending events have changed. */
  onChange(): void;
}

/** @returns the status of the answer, 0 without one */
async function post(body: string, to: WebhookTarget, signal: AbortSignal): Promise<number> {
  try {
    const response = await fetch(to.url, {
      method: 'POST',
      headers: {
        'content-type': 'application/json; charset=utf-8',
        'user-agent': 'Stripe/1.0 (+https://stripe.com/docs/webhooks)',
        'stripe-signature': signPayload(body, to.secret),
      },
      body,
      redirect: 'manual',
      signal: AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]),
    });
    await response.body?.cancel();
    return response.status;
  } catch {
    return 0;
  }
}

/**
 * Attempts a delivery again after each pause.
 * @param attempt undefined without a target
 * @returns the status of the last attempt if the target has accepted none
 */
async function attemptRepeatedly(
  attempt: () => Promise<number> | undefined,
  signal: AbortSignal,
): Promise<number | undefined> {
  for (const pauseMs of [...pausesMs, undefined]) {
    const status = await attempt();
    if (status === undefined || (status >= 200 && status < 300) || signal.aborted) return undefined;
    if (pauseMs === undefined) return status;
    await sleep(pauseMs, undefined, { signal }).catch(() => {});
  }
  return undefined;
}

/** The events that wait for their delivery, oldest first. */
function createQueue(onChange: () => void) {
  let events: StripeEvent[] = [];
  return {
    list: () => events,
    add(event: StripeEvent): void {
      events.push(event);
    },
    remove(event: StripeEvent): void {
      events = events.filter((each) => each !== event);
      onChange();
    },
    clear(): void {
      events = [];
      onChange();
    },
    restore(stored: StripeEvent[]): void {
      events = stored;
    },
  };
}

export function createWebhooks({ target, view, log, onChange }: WebhookOptions) {
  let mode: Webhooks['mode'] = 'prompt';
  let running: Promise<void> | undefined;
  const queue = createQueue(onChange);
  const closing = new AbortController();

  const send = (event: StripeEvent, to: WebhookTarget): Promise<number> =>
    post(JSON.stringify(view(event), null, 2), to, closing.signal);

  async function sendRepeatedly(event: StripeEvent): Promise<void> {
    const status = await attemptRepeatedly(() => webhooks.target && send(event, webhooks.target), closing.signal);
    if (status !== undefined) log(`The webhook ${event.type} was not taken (${status || 'no answer'})`);
  }

  async function work(): Promise<void> {
    // The call that caused the events may not have been answered yet.
    await new Promise(setImmediate);
    for (;;) {
      const [event] = mode === 'prompt' && !closing.signal.aborted ? queue.list() : [];
      if (event === undefined) return;
      await sendRepeatedly(event);
      if (closing.signal.aborted) return;
      queue.remove(event);
    }
  }

  function start(): void {
    if (running !== undefined || mode !== 'prompt' || queue.list().length === 0) return;
    running = work().finally(() => {
      running = undefined;
      if (!closing.signal.aborted) start();
    });
  }

  const webhooks: Webhooks = {
    get mode() {
      return mode;
    },
    set mode(next) {
      mode = next;
      start();
    },
    ...(target !== undefined && { target }),
    waiting: () => queue.list(),
    async deliver({ order = (events: StripeEvent[]) => events, twice = false }: DeliverOptions = {}) {
      const to = webhooks.target;
      if (to === undefined) throw new Error('the stand-in has no webhook target');
      const events = order([...queue.list()]);
      queue.clear();
      const answers: Delivered[] = [];
      const attempts = twice ? events.flatMap((event) => [event, event]) : events;
      for (const event of attempts) answers.push({ event, status: await send(event, to) });
      return answers;
    },
    drop: () => queue.clear(),
    async idle() {
      while (running !== undefined) await running;
    },
  };
  return {
    webhooks,
    /** Something happened. */
    add(event: StripeEvent): void {
      if (mode === 'prompt' && webhooks.target === undefined) return;
      queue.add(event);
      start();
    },
    snapshot: () => queue.list(),
    restore(snapshot: unknown): void {
      queue.restore(snapshot as StripeEvent[]);
      start();
    },
    /** Ends running deliveries; undelivered events stay pending. */
    async close(): Promise<void> {
      closing.abort();
      await webhooks.idle();
    },
  };
}
