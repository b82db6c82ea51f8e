import { z } from 'zod';
import type { RequestContext } from '../http/index.ts';
import { dayMs } from '../shared/index.ts';
import { type KeyValueStore, parseStored } from '../store/index.ts';
import type { FederationDeps } from './deps.ts';
import { FederationError, type RefusalKind } from './identity.ts';
import type { Provider } from './providers.ts';
import { loginPageUrl } from './sign-in-notices.ts';

type Deps = Pick<FederationDeps, 'log' | 'metrics' | 'kv' | 'now'>;

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

/** Logs and records a refusal without any data from the provider. @throws every error that is no refusal */
export function logRefusal(deps: Deps, provider: Provider, error: unknown): FederationError {
  if (!(error instanceof FederationError)) throw error;
  const { log, metrics } = deps;
  const { kind: outcome, detail, count } = error;
  log.info(
    { act: 'federation', provider: provider.id, outcome, detail, ...(count !== undefined && { count }) },
    'federation',
  );
  metrics.signIn(provider.kind, error.kind);
  // The visitor does not wait for it, and the log has it anyway.
  recordRefusal(deps, provider, error).catch((fault: unknown) => log.warn({ err: fault }, 'refusal not recorded'));
  return error;
}

/** Logs a refusal, and redirects to the page on which the attempt was started. */
export function redirectRefused(
  r: RequestContext,
  deps: Deps,
  { provider, attempt, error }: { provider: Provider; attempt: Parameters<typeof loginPageUrl>[0]; error: unknown },
): void {
  const { kind } = logRefusal(deps, provider, error);
  r.redirect(loginPageUrl(attempt, provider, kind));
}
