import { AsyncLocalStorage } from 'node:async_hooks';
import { currentRequest, findPrincipal, plainAddress } from '../http/index.ts';
import { type ClientId, readBrowserName } from '../shared/index.ts';
import type { Actor, AuditEntry } from './events.ts';

const actors = new AsyncLocalStorage<Actor>();

/** The events that are recorded while `act` runs have this actor. For commands, and for calls of Stripe. */
export const actAs = <T>(actor: Actor, act: () => Promise<T>): Promise<T> => actors.run(actor, act);

interface EventOrigin {
  actor: Actor;
  address: string | null;
  device: string | null;
  clientId: ClientId | undefined;
}

/** Actor, address and device of an event: those that it names, else those of the running command or request. */
export function readOrigin(entry: AuditEntry): EventOrigin {
  const running = actors.getStore();
  const { actor = running, address, device = null, clientId } = entry;
  const elsewhere = { address: null, device: null, actor: actor ?? ({ kind: 'system' } as const), clientId };
  if (address !== undefined) return { ...elsewhere, address: toAddress(address), device };
  const req = currentRequest();
  if (req === undefined || running !== undefined) return elsewhere;
  const caller = findPrincipal(req);
  // The request of a client app comes from its server, not from the member's browser.
  if (caller?.kind === 'client') return { ...elsewhere, actor: { kind: 'client' }, clientId: caller.clientId };
  return {
    actor: actor ?? { kind: entry.subject === undefined ? 'system' : 'member' },
    address: toAddress(propertyText(req, 'ip')),
    device: toDevice(req.headers['user-agent']),
    clientId,
  };
}

/** At most the length of an IPv6 address with its zone. */
const toAddress = (ip = ''): string | null => (ip === '' ? null : plainAddress(ip).slice(0, 64));

/** Express adds `ip`; calls that bypass it have none. */
function propertyText(req: object, name: string): string | undefined {
  const value: unknown = Reflect.get(req, name);
  return typeof value === 'string' ? value : undefined;
}

/** The browser of the running request. */
export const readDevice = (): string | null => toDevice(currentRequest()?.headers['user-agent']);

/** `Chrome · Windows`: the same in every language. */
function toDevice(userAgent: string | undefined): string | null {
  const { browser, system } = readBrowserName(userAgent);
  const names = [browser, system].filter((name) => name !== undefined);
  return names.length === 0 ? null : names.join(' · ');
}
