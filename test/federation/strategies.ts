import type { Request } from 'express';
import { loadConfig } from '../../config/load.ts';
import { loadProviders } from '../../config/providers.ts';
import { FederationError, type UpstreamIdentity } from '../../server/federation/identity.ts';
import type { Provider, StrategySettings } from '../../server/federation/providers.ts';
import { openStrategies } from '../../server/federation/strategies.ts';
import { toFlowId } from '../support/ids.ts';
import { sendRequest } from '../support/send-request.ts';

const publicUrl = 'http://localhost:3000';

/** The settings of the strategies, read from environment variables as in Foyer. */
export function settingsOf(
  environment: Record<string, string>,
  more: Partial<StrategySettings> = {},
): StrategySettings {
  const config = loadConfig({
    NODE_ENV: 'test',
    SEARCH_APP_URL: 'http://localhost:9',
    SECRET_KEY: 's'.repeat(40),
    PUBLIC_URL: publicUrl,
    ...environment,
  });
  const file = loadProviders(config.PROVIDERS_FILE, process.env);
  return { publicUrl, config, file, now: Date.now, ...more };
}

export function providersBy(settings: StrategySettings): (id: string) => Provider {
  const all = openStrategies(settings);
  return (id) => {
    const found = all.find((one) => one.id === id);
    if (!found) throw new Error(`no provider ${id}`);
    return found;
  };
}

export type Begun = { id: string; url: URL; strategyState: Record<string, unknown> };
type Asked = Parameters<Provider['strategy']['begin']>[1];

let attempts = 0;

export async function begin({ strategy }: Provider, asked: Partial<Asked> = {}): Promise<Begun> {
  attempts += 1;
  const id = `attempt-${attempts}`;
  const { url, stored: strategyState } = await strategy.begin(
    { id: toFlowId(id) },
    { repeated: false, lang: 'en', ...asked },
  );
  // The attempt passes through JSON, as in the store.
  return { id, url: new URL(url), strategyState: JSON.parse(JSON.stringify(strategyState)) };
}

/** The address to which a provider redirects the browser from this address. */
export async function answerOf(url: URL): Promise<URL> {
  const answer = await sendRequest(url, { redirect: 'manual' });
  const location = answer.headers.get('location');
  if (location === null) throw new Error(`the provider answered ${answer.status}: ${await answer.text()}`);
  return new URL(location, url);
}

export function finish(provider: Provider, { id, strategyState }: Begun, answer: URL): Promise<UpstreamIdentity> {
  const req = {
    method: 'GET',
    originalUrl: `${answer.pathname}${answer.search}`,
    query: Object.fromEntries(answer.searchParams),
  } as unknown as Request;
  const attempt = { id: toFlowId(id), strategyState, provider: provider.id, intent: { kind: 'sign-in' as const } };
  return provider.strategy.finish(req, { ...attempt, continuation: '', remember: false, begunAtMs: Date.now() });
}

/** Starts and finishes a sign-in. */
export async function come(provider: Provider, asked: Partial<Asked> = {}): Promise<UpstreamIdentity> {
  const begun = await begin(provider, asked);
  return finish(provider, begun, await answerOf(begun.url));
}

/** The error of a sign-in that must fail. */
export async function refusal(way: Promise<unknown>): Promise<FederationError> {
  try {
    await way;
  } catch (error) {
    if (error instanceof FederationError) return error;
    throw error;
  }
  throw new Error('somebody got in');
}
