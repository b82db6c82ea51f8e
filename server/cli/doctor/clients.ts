import { loadPlans, type PlansFile, PlansFileError } from '../../../config/plans.ts';
import {
  type ClientMetadata,
  type GrantableAccess,
  grantsToNobody,
  isRestricted,
  listClients,
  mayHoldSensitive,
  sensitiveScopes,
} from '../../oidc/index.ts';
import type { Database } from '../../store/index.ts';
import { onOffer } from '../grantable-access.ts';
import { counted } from '../text.ts';
import { type Finding, findingsFor } from './finding.ts';
import type { Setup } from './setup.ts';

const { ok, warning, fault } = findingsFor('plans');

/** Compares the access that client apps require with what users can have. */
export function judgeClients(clients: readonly ClientMetadata[], offer: GrantableAccess): Finding[] {
  const limited = clients.filter((client) => isRestricted(client));
  if (limited.length === 0) return [];
  const requested = limited.flatMap((client) => {
    const { plans, entitlements } = grantsToNobody(client, offer);
    const gone = [...plans.map((id) => `plan ${id}`), ...entitlements];
    const all = [...(client.required_plans ?? []), ...(client.required_entitlements ?? [])];
    return gone.length === 0 ? [] : [{ id: client.client_id, gone, shut: gone.length === all.length }];
  });
  const named = (some: typeof requested) => some.map(({ id, gone }) => `${id} (${gone.join(', ')})`).join('; ');
  const [shut, partly] = [requested.filter((one) => one.shut), requested.filter((one) => !one.shut)];
  const todo = 'Change PLANS_FILE, or the client app: `foyer client update ID --only-plan …`, or `--no-only-plan`.';
  const findings: Finding[] = [];
  if (shut.length > 0) {
    findings.push(
      fault('plans.clients', {
        seen: `Nothing in the catalogue lets a member into ${counted(shut.length, 'client app')}: ${named(shut)}.`,
        why: 'Members are sent to the plans, and none of those lets them in.',
        todo,
      }),
    );
  }
  if (partly.length > 0) {
    findings.push(
      warning('plans.clients', {
        seen: `Not in the catalogue, and asked for by ${counted(partly.length, 'client app')}: ${named(partly)}.`,
        why: 'Members who have that from before may be shut out; the rest of what is asked for still lets members in.',
        todo,
      }),
    );
  }
  if (findings.length > 0) return findings;
  return [
    ok('plans.clients', `What is asked of members is in the catalogue, at ${counted(limited.length, 'client app')}.`),
  ];
}

const clientFinding = findingsFor('clients');

/** The clients whose tokens change credentials or charge cards: each of their servers can take accounts over. */
export function judgeSensitive(clients: readonly ClientMetadata[]): Finding[] {
  return sensitiveScopes.flatMap((scope) => {
    const holders = clients.filter((client) => client.scope.split(' ').includes(scope));
    if (holders.length === 0) return [];
    const id = `clients.${scope.replace(':', '-')}`;
    const names = (some: readonly ClientMetadata[]) => some.map(({ client_id: name }) => name).join(', ');
    const unfit = holders.filter((client) => !mayHoldSensitive(client));
    const todo = `Take the scope from each client that does not need it: \`foyer client update ID --scope …\`.`;
    const held = clientFinding.note(id, {
      seen: `${counted(holders.length, 'client')} with the scope ${scope}: ${names(holders)}.`,
      why:
        scope === 'account:security'
          ? 'The tokens of these clients change email addresses, phone numbers, passwords and second factors of members.'
          : 'The tokens of these clients buy plans with the saved cards of members.',
      todo,
    });
    if (unfit.length === 0) return [held];
    return [
      held,
      clientFinding.warning(`${id}.unfit`, {
        seen: `The scope ${scope} is registered for a client that may not have it: ${names(unfit)}.`,
        why: 'Only confidential web clients of the marketplace get it; Foyer refuses the calls of these clients.',
        todo,
      }),
    ];
  });
}

/** The clients that may send requests without a nonce: they should move to the code flow. */
export function judgeLegacy(clients: readonly ClientMetadata[]): Finding[] {
  const legacy = clients.filter((client) => client.legacy);
  if (legacy.length === 0) return [];
  const named = legacy.map(
    ({ client_id: id, legacy_id_token_redirect: inQuery }) => `${id}${inQuery ? ' (id tokens in the query)' : ''}`,
  );
  return [
    clientFinding.note('clients.legacy', {
      seen: `${counted(legacy.length, 'legacy client')}: ${named.join(', ')}.`,
      why: 'A legacy client may send no nonce of its own, so it cannot notice an id token that an attacker injects.',
      todo: 'Change each app to the code flow with PKCE, then: `foyer client update ID --no-legacy`.',
    }),
  ];
}

/** The clients with the most dangerous access, and those with the weakest protection. */
export async function checkRisks({ db }: Database): Promise<Finding[]> {
  const clients = await listClients(db);
  return [...judgeSensitive(clients), ...judgeLegacy(clients)];
}

/** No finding if the catalogue is unreadable: `plans.file` reports it. */
export async function checkClients(database: Database, { config, unreadable }: Setup): Promise<Finding[]> {
  if (unreadable('PLANS_FILE')) return [];
  let file: PlansFile;
  try {
    file = loadPlans(config.PLANS_FILE);
  } catch (error) {
    if (error instanceof PlansFileError) return [];
    throw error;
  }
  return judgeClients(await listClients(database.db), onOffer(file));
}
