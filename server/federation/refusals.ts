import { z } from 'zod';
import type { RequestContext } from '../http/index.ts';
import { dayMs } from '../shared/index.ts';
import { type KeyValueStore, parseStored } from '../store/index.ts';
import type { FederationIntent } from './attempts.ts';
import type { FederationDeps } from './deps.ts';
import { FederationError, type RefusalKind } from './identity.ts';
import type { Provider } from './providers.ts';
import { loginPageAfter } from './sign-in-notices.ts';

type Deps = Pick<FederationDeps, 'log' | 'metrics' | 'hooks' | 'kv' | 'now'>;

const schema = z.object({ atMs: z.number(), outcome: z.string(), detail: z.string() });
/** A refusal for the operator: the same words as in the log, without any data from the provider. */
type RefusalRecord = z.infer<typeof schema>;

/** The newest ones of each provider, in as many records, which are written in turn. */
const maxRecords = 20;
const keptMs = 7 * dayMs;
const recordKey = (provider: string, place: number) => `federation-refusal:${provider}:${place}`;

/** Strangers can cause these at will, and would displace the others. */
const ofStrangers: readonly RefusalKind[] = ['foreign', 'over', 'cancelled'];

async function recordRefusal({ kv, now }: Deps, provider: Provider, { kind, detail }: FederationError): Promise<void> {
  if (ofStrangers.includes(kind)) return;
  const { count } = await kv.consumeCount(`federation-refusals:${provider.id}`, keptMs);
  const record: RefusalRecord = { atMs: now(), outcome: kind, detail };
  await kv.set(recordKey(provider.id, count % maxRecords), JSON.stringify(record), keptMs);
}

/** The last refusals of a provider, the newest first. */
export async function listRefusals(kv: Pick<KeyValueStore, 'get'>, provider: string): Promise<RefusalRecord[]> {
  const places = Array.from({ length: maxRecords }, (_, place) => place);
  const texts = await Promise.all(places.map((place) => kv.get(recordKey(provider, place))));
  return texts.flatMap((text) => (text === null ? [] : [parseStored(schema, text)])).sort((a, b) => b.atMs - a.atMs);
}

interface Refusal {
  provider: Provider;
  error: unknown;
  /** Undefined: the response belongs to no attempt of this browser. */
  attempt: { intent: FederationIntent } | undefined;
}

/** Linking is no sign-in. */
async function reportToAudit(
  { ip }: RequestContext,
  { hooks }: Deps,
  { provider, refusal, intent }: { provider: Provider; refusal: FederationError; intent: FederationIntent | undefined },
): Promise<void> {
  if (ofStrangers.includes(refusal.kind) || intent?.kind === 'link') return;
  const userId = refusal.userId ?? (intent?.kind === 're-authenticate' ? intent.userId : undefined);
  await hooks.onSignInRefused({ userId, method: provider.kind, provider: provider.id, reason: refusal.kind, ip });
}

/** Logs and records a refusal without any data from the provider. @throws every error that is no refusal */
export function logRefusal(r: RequestContext, deps: Deps, { provider, error, attempt }: Refusal): FederationError {
  if (!(error instanceof FederationError)) throw error;
  const { log, metrics } = deps;
  const { kind: outcome, detail, count } = error;
  log.info(
    { act: 'federation', provider: provider.id, outcome, detail, ...(count !== undefined && { count }) },
    'federation',
  );
  metrics.signIn(provider.kind, error.kind);
  // The visitor does not wait for it, and the log has it anyway.
  Promise.all([
    recordRefusal(deps, provider, error),
    reportToAudit(r, deps, { provider, refusal: error, intent: attempt?.intent }),
  ]).catch((fault: unknown) => log.warn({ err: fault }, 'refusal not recorded'));
  return error;
}

/** Logs a refusal, and redirects to the page on which the attempt was started. */
export function redirectRefused(
  r: RequestContext,
  deps: Deps,
  { provider, attempt, error }: Refusal & { attempt: Parameters<typeof loginPageAfter>[0] },
): void {
  const { kind } = logRefusal(r, deps, { provider, attempt, error });
  r.redirect(loginPageAfter(attempt, provider, kind));
}
