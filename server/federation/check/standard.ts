import { type StandardKind, standardProviders } from '../../../config/standard-providers.ts';
import { FederationError } from '../identity.ts';
import { standardEndpoints } from '../providers/endpoints.ts';
import { fetchLimited } from '../providers/fetch-limited.ts';
import { wrongClient, wrongCode } from '../providers/oauth2-errors.ts';
import type { StrategySettings } from '../providers.ts';
import { isObject, parsedJson, probeCode, unknownWord } from './probe.ts';
import type { ProviderCheckResult } from './report.ts';

/** Checks whether a standard provider accepts the credentials, with an invalid code. */
export async function checkStandard(
  kind: StandardKind,
  { config, answerMs }: Pick<StrategySettings, 'config' | 'answerMs'>,
  redirectUri: string,
): Promise<ProviderCheckResult> {
  const { id, secret } = standardProviders[kind].credentials;
  const form = new URLSearchParams({
    grant_type: 'authorization_code',
    code: probeCode,
    redirect_uri: redirectUri,
    client_id: config[id.variable] ?? '',
    client_secret: config[secret.variable] ?? '',
  });
  return fetchLimited(
    standardEndpoints(kind, config).token,
    {
      method: 'POST',
      headers: { 'Content-Type': 'application/x-www-form-urlencoded', Accept: 'application/json' },
      body: form.toString(),
    },
    answerMs,
  ).then(
    ({ status, text }) => judgeAnswer(kind, status, text),
    (error: unknown) => {
      if (error instanceof FederationError) return { faults: [`it does not answer (${error.detail})`] };
      throw error;
    },
  );
}

/** A provider that accepts the credentials only rejects the code. */
function judgeAnswer(kind: StandardKind, status: number, text: string): ProviderCheckResult {
  const claims = parsedJson(text);
  const error = isObject(claims) ? claims.error : undefined;
  const code = isObject(error) ? error.code : error;
  if (wrongCode(code, kind)) return {};
  if (wrongClient(code, kind)) return { faults: ['it does not take our client id and secret'] };
  if (status >= 400 && status < 500 && /^[\w]{1,60}$/.test(String(code ?? '')))
    return { warnings: [unknownWord(String(code))] };
  return { faults: [`its token endpoint does not answer as it should (status ${status})`] };
}
