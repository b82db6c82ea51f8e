import { createHmac } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { StripeEvent } from './engine/index.ts';

/** The target of events, and the endpoint's signing secret. */
export interface WebhookTarget {
  url: string;
  secret: string;
}

export interface Delivered {
  event: StripeEvent;
  /** HTTP status; 0 without an answer. */
  status: number;
}

export interface DeliverOptions {
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
const patienceMs = 15_000;

/** `Stripe-Signature` of a body (docs.stripe.com/webhooks#verify-manually). */
export function signPayload(body: string, secret: string, atSeconds = Math.floor(Date.now() / 1_000)): string {
  const digest = createHmac('sha256', secret).update(`${atSeconds}.${body}`).digest('hex');
  return `t=${atSeconds},v1=${digest}`;
}

export interface WebhookOptions {
  target: WebhookTarget | undefined;
  /** The visible form of an event. */
  view(event: StripeEvent): unknown;
  log(line: string): void;
  /** The pending events have changed. */
  onChange(): void;
}

export function createWebhooks({ target, view, log, onChange }: WebhookOptions) {
  let mode: Webhooks['mode'] = 'prompt';
  let waiting: StripeEvent[] = [];
  let working: Promise<void> | undefined;
  const closing = new AbortController();

  async function send(event: StripeEvent, to: WebhookTarget): Promise<number> {
    const body = JSON.stringify(view(event), null, 2);
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
        signal: AbortSignal.any([closing.signal, AbortSignal.timeout(patienceMs)]),
      });
      await response.body?.cancel();
      return response.status;
    } catch {
      return 0;
    }
  }

  async function sendUntilTaken(event: StripeEvent): Promise<void> {
    for (const pauseMs of [...pausesMs, undefined]) {
      if (webhooks.target === undefined) return;
      const status = await send(event, webhooks.target);
      if ((status >= 200 && status < 300) || closing.signal.aborted) return;
      if (pauseMs === undefined) return log(`The webhook ${event.type} was not taken (${status || 'no answer'})`);
      await sleep(pauseMs, undefined, { signal: closing.signal }).catch(() => {});
    }
  }

  async function work(): Promise<void> {
    // The call that caused the events may not have been answered yet.
    await new Promise(setImmediate);
    for (;;) {
      const [event] = mode === 'prompt' && !closing.signal.aborted ? waiting : [];
      if (event === undefined) return;
      await sendUntilTaken(event);
      if (closing.signal.aborted) return;
      waiting = waiting.filter((each) => each !== event);
      onChange();
    }
  }

  function start(): void {
    if (working !== undefined || mode !== 'prompt' || waiting.length === 0) return;
    working = work().finally(() => {
      working = undefined;
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
    waiting: () => waiting,
    async deliver({ order = (events: StripeEvent[]) => events, twice = false }: DeliverOptions = {}) {
      const to = webhooks.target;
      if (to === undefined) throw new Error('the stand-in has no webhook target');
      const events = order([...waiting]);
      waiting = [];
      onChange();
      const answers: Delivered[] = [];
      for (const event of events) {
        for (let times = twice ? 2 : 1; times > 0; times -= 1) answers.push({ event, status: await send(event, to) });
      }
      return answers;
    },
    drop() {
      waiting = [];
      onChange();
    },
    async idle() {
      while (working !== undefined) await working;
    },
  };
  return {
    webhooks,
    /** Something happened. */
    add(event: StripeEvent): void {
      if (mode === 'prompt' && webhooks.target === undefined) return;
      waiting.push(event);
      start();
    },
    snapshot: () => waiting,
    restore(snapshot: unknown): void {
      waiting = snapshot as StripeEvent[];
      start();
    },
    /** Ends running deliveries; undelivered events stay pending. */
    async close(): Promise<void> {
      closing.abort();
      await webhooks.idle();
    },
  };
}
