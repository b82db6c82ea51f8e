import type { Transaction } from 'kysely';
import { countedNetworks } from '../http/index.ts';
import { dayMs, hourMs, type KeyedDigest } from '../shared/index.ts';
import type { KeyValueStore, Schema } from '../store/index.ts';
import type { Outbox } from './outbox.ts';
import { textNumber } from './text-number.ts';

/** Text messages cost money, and whoever makes a house send many of them may earn it (SMS pumping). */
export interface TextLimits {
  /** To one member within a day: to new numbers, to the number that is theirs, there from browsers they have used before. */
  member: number;
  /** To one number within a day; as with members, three shares. */
  number: number;
  /** Asked for from one address (IPv6: one /64 network) within an hour. */
  address: number;
  /** To all together within an hour. Numbers that nobody has proven yet get half of it at most. */
  overall: number;
  /** Is told once a window that an overall limit is reached. Text messages cost money: this one refuses. */
  reached?: ((limit: string) => void) | undefined;
}

export interface TextMessage {
  /** E.164. */
  to: string;
  text: string;
  /** Who gets it, or asks for it: a member's id. */
  member: string;
  /** Of whoever asks. */
  ip: string;
  /** The member has shown before that the number is theirs. */
  proven?: boolean;
  /** Asked for in a browser that the member has signed in with before. */
  fromKnownDevice?: boolean;
  /** Not delivered after this moment (milliseconds since the epoch): a code that is void by then, say. */
  expiresAtMs?: number;
  /** Messages of one group arrive in the order in which they were written: the newest code last. */
  groupId?: string;
}

/** `country`: no message is sent to such a number, whoever asks. */
export type TextRefusal = 'country' | 'member' | 'number' | 'network' | 'overall';

export type TextSent = { sent: true } | { sent: false; why: TextRefusal; retryAfterMs?: number };

export interface TextMessages {
  /**
   * Counts a message at every limit, and only then writes it into the outbox. The caller wakes the outbox after the commit.
   * A message that is refused was counted nowhere.
   */
  send(trx: Transaction<Schema>, message: TextMessage): Promise<TextSent>;
  /** Whether messages are sent to this number at all; nothing is counted. */
  reaches(number: string): Promise<boolean>;
}

export interface TextMessagesSettings {
  kv: KeyValueStore;
  outbox: Outbox;
  limits: TextLimits;
  /** Numbers are counted under it. */
  digest: KeyedDigest;
  /** ISO 3166-1 alpha-2, upper case; undefined: all. */
  countries?: readonly string[] | undefined;
}

/** One of several limits: its name, whom it counts, how many it lets through, within which time. */
type Counter = [why: TextRefusal, key: string, most: number, windowMs: number];

/**
 * Whose share of a day it is. Apart, so that strangers who claim a member's number, or have a member's password, do not use up
 * the codes which that member signs in by.
 */
const shareOf = ({ proven = false, fromKnownDevice = false }: TextMessage) =>
  proven ? (fromKnownDevice ? 'known:' : 'proven:') : '';

export function createTextMessages({ kv, outbox, limits, countries, digest }: TextMessagesSettings): TextMessages {
  const allowed = countries && new Set(countries);

  async function reaches(number: string): Promise<boolean> {
    const found = await textNumber(number);
    return found.kind === 'textable' && (allowed === undefined || allowed.has(found.country));
  }

  /** Before it is sent, so that many at once cannot slip past. The narrow limits come first: one member does not fill everybody's. */
  async function admit(counters: readonly Counter[]): Promise<TextSent> {
    const counted: Counter[] = [];
    for (const counter of counters) {
      const [why, key, most, itsWindow] = counter;
      const { count, expiresInMs } = await kv.increment(key, itsWindow);
      counted.push(counter);
      if (count <= most) continue;
      await Promise.all(counted.map(([, each, , itsWindowMs]) => kv.increment(each, itsWindowMs, -1)));
      if (why === 'overall' && (await kv.setIfAbsent(`overall-reached:${key}`, '1', itsWindow))) limits.reached?.(key);
      return { sent: false, why, retryAfterMs: expiresInMs };
    }
    return { sent: true };
  }

  return {
    reaches,
    async send(trx, message) {
      const { to, text, member, ip, proven = false, expiresAtMs, groupId } = message;
      if (!(await reaches(to))) return { sent: false, why: 'country' };
      const newcomers: Counter = ['overall', 'sms:overall:new', Math.ceil(limits.overall / 2), hourMs];
      const share = shareOf(message);
      const admission = await admit([
        ['member', `sms:member:${share}${member}`, limits.member, dayMs],
        ['number', `sms:number:${share}${digest(to)}`, limits.number, dayMs],
        ...countedNetworks(ip).map(
          ({ network, times }): Counter => ['network', `sms:address:${network}`, limits.address * times, hourMs],
        ),
        ...(proven ? [] : [newcomers]),
        ['overall', 'sms:overall', limits.overall, hourMs],
      ]);
      if (!admission.sent) return admission;
      await outbox.add(trx, {
        channel: 'sms',
        to,
        text,
        ...(expiresAtMs !== undefined && { expiresAtMs }),
        ...(groupId !== undefined && { groupId }),
      });
      return admission;
    },
  };
}
