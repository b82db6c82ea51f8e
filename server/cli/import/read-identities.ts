import { standardKindsByCognitoName, standardProviders } from '../../../config/standard-providers.ts';
import { isNameOfPerson, type LinkedSubject, standardProviderIds } from '../../federation/index.ts';
import { parseUnknownJson } from '../../shared/index.ts';
import { isObject } from './source.ts';

/** The providers for the other service's names: its own for the standard providers, and those of `--provider`. */
export type ProviderNames = ReadonlyMap<string, Pick<LinkedSubject, 'kind' | 'issuer' | 'provider'>>;

/** As in a Cognito user pool. */
export const standardNames: ProviderNames = new Map(
  [...standardKindsByCognitoName].map(([name, kind]) => [
    name,
    { kind, provider: standardProviderIds[kind], issuer: standardProviders[kind].issuer },
  ]),
);

/** Maximum number for one user. */
const maxIdentities = 20;

/** A list, or its JSON text, as in a pool's attribute. Undefined: neither. */
function listIn(value: unknown): unknown[] | undefined {
  let list = value;
  if (typeof value === 'string') {
    try {
      list = parseUnknownJson(value);
    } catch {
      return undefined;
    }
  }
  return Array.isArray(list) && list.length <= maxIdentities ? list : undefined;
}

const notRead = 'identities: is no list of at most 20 identities; left out';
const notNamed = 'identities: one is of a provider that neither Foyer nor --provider names; left out';
const noSubject = 'identities: one has no userId that names a person; left out';
const twice = 'identities: one stands twice; left out';

/**
 * The provider and the subject of each identity of a row.
 * @param value `[{"providerName": "Google", "userId": "…", "dateCreated": …}]`
 * @param notes gets what is skipped, in words without data of the row
 */
export function readIdentities(
  value: unknown,
  { names, nowMs }: { names: ProviderNames; nowMs: number },
  notes: string[],
): LinkedSubject[] {
  if (value === undefined) return [];
  const list = listIn(value);
  if (!list) {
    notes.push(notRead);
    return [];
  }
  const found = new Map<string, LinkedSubject>();
  for (const one of list) {
    const { providerName, userId, dateCreated } = isObject(one) ? one : {};
    const provider = typeof providerName === 'string' ? names.get(providerName) : undefined;
    const subject = typeof userId === 'number' && Number.isSafeInteger(userId) ? String(userId) : userId;
    if (!provider) notes.push(notNamed);
    else if (!isNameOfPerson(subject)) notes.push(noSubject);
    else {
      const key = JSON.stringify([provider.kind, provider.issuer, subject]);
      if (found.has(key)) notes.push(twice);
      const atMs = Number(dateCreated);
      found.set(key, { ...provider, subject, linkedAtMs: atMs > 0 && atMs <= nowMs ? Math.round(atMs) : nowMs });
    }
  }
  return [...found.values()];
}
