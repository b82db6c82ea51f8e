import { z } from 'zod';
import type { ClientId, UserId } from '../shared/index.ts';

/** Texts of an event are names and ids; they never contain what a visitor typed. */
const short = z.string().max(100);
const count = z.int().nonnegative();
const none = z.strictObject({});
const change = z.strictObject({ change: short });

/** The details of each type of event. No code, token, password, secret, card number, address or name belongs there. */
const detailsByType = {
  /** `amr`: RFC 8176. */
  'sign-in.completed': z.strictObject({ amr: z.array(short).max(8), provider: short.optional() }),
  /** `attempts`: within one minute, from one address. `provider`, `reason`: of passkeys and identity providers. */
  'sign-in.refused': z.strictObject({
    method: short,
    attempts: count,
    provider: short.optional(),
    reason: short.optional(),
  }),
  /** Refusals of one minute beyond those that have an event of their own. */
  'sign-in.refused-many': z.strictObject({ attempts: count }),
  /** `provider`: it signed the member out in this browser (OpenID Connect Front-Channel Logout 1.0). */
  'sign-out.completed': z.strictObject({ provider: short.optional() }),
  'password.changed': none,
  'factor.changed': change,
  'contact.changed': change,
  'profile.changed': change,
  'provider.changed': change,
  'device.changed': change,
  'app.connected': z.strictObject({ scopes: z.array(short).max(50) }),
  'app.removed': change,
  'account.created': z.strictObject({ provider: short.optional() }),
  'account.deletion-requested': none,
  'account.deletion-cancelled': none,
  'account.erased': none,
  'membership.changed': z.strictObject({ plan: short, status: short, seats: count.optional() }),
  /** `gift`: the id of the code; `gifts`: their number. */
  'gift.created': z.strictObject({ gifts: count, plan: short, months: count }),
  'gift.redeemed': z.strictObject({ gift: short, plan: short, months: count }),
  'gift.revoked': z.strictObject({ gift: short }),
  'payment.made': z.strictObject({ invoice: short, amountCents: z.int(), currency: short, plan: short }),
  'payment.refunded': z.strictObject({ invoice: short, amountCents: z.int(), currency: short }),
  'payment.disputed': z.strictObject({ invoice: short, state: short }),
  /** `exitCode`: of the command. */
  'operator.command': z.strictObject({ command: short, exitCode: count }),
} as const;

export type EventType = keyof typeof detailsByType;
type AuditEvent = { [T in EventType]: { type: T; details: z.infer<(typeof detailsByType)[T]> } }[EventType];

export const eventTypes = Object.keys(detailsByType).toSorted() as EventType[];

/** @throws {z.ZodError} details of another type, or too long */
export const checkEvent = ({ type, details }: AuditEvent): AuditEvent =>
  ({ type, details: detailsByType[type].parse(details) }) as AuditEvent;

/** The party that acts. `member`: the subject of the event; `visitor`: no one has proven to be it. */
const actorSchema = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('member') }),
  z.strictObject({ kind: z.literal('visitor') }),
  z.strictObject({ kind: z.literal('client') }),
  /** `name`: of the user at the operating system. */
  z.strictObject({ kind: z.literal('operator'), name: short }),
  z.strictObject({ kind: z.literal('stripe') }),
  z.strictObject({ kind: z.literal('system') }),
]);
export type Actor = z.infer<typeof actorSchema>;

/** An event with its parties, as a module records it. */
export type AuditEntry = AuditEvent & {
  /** The member whom the event is about. */
  subject?: UserId | undefined;
  /** The client app. */
  clientId?: ClientId | undefined;
  /** Undefined: the actor of the request or command. */
  actor?: Actor | undefined;
  /** Undefined: the address of the request. */
  address?: string | undefined;
  /** Beside `address`: browser and operating system. */
  device?: string | null | undefined;
  /** Milliseconds since the epoch. */
  atMs: number;
};

/** The part that is hashed into the chain. It identifies no member: `person` is a salted digest. */
export const bodySchema = z.strictObject({
  actor: actorSchema,
  at: z.int(),
  client: z.string().nullable(),
  details: z.record(z.string(), z.unknown()),
  id: z.string(),
  person: z.string().nullable(),
  type: z.string(),
  v: z.literal(1),
});

/** The part that is deleted with the member's account. */
export const personSchema = z.strictObject({
  address: z.string().nullable(),
  device: z.string().nullable(),
  member: z.string().nullable(),
});

/** An event as it is listed. `seq`, `hash`: its place in the chain; null: not sealed yet. Milliseconds. */
export interface ListedEvent {
  seq: number | null;
  hash: string | null;
  id: string;
  at: number;
  type: string;
  actor: Actor;
  member: string | null;
  client: string | null;
  address: string | null;
  device: string | null;
  details: Record<string, unknown>;
  /** The personal part was deleted with the account. */
  erased: boolean;
}
