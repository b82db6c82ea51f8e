import { loadPlans, type PlansFile, PlansFileError } from '../../../config/plans.ts';
import { type ClientMetadata, isLimited, listClients, nobodyHas, type OnOffer } from '../../oauth/index.ts';
import type { Database } from '../../store/index.ts';
import { onOffer } from '../on-offer.ts';
import { counted } from '../text.ts';
import { type Finding, speakerFor } from './finding.ts';
import type { Setup } from './setup.ts';

const { ok, warning, fault } = speakerFor('plans');

/** Whether members can have what client apps ask of them. */
export function judgeClients(clients: readonly ClientMetadata[], offer: OnOffer): Finding[] {
  const limited = clients.filter((client) => isLimited(client));
  if (limited.length === 0) return [];
  const asked = limited.flatMap((client) => {
    const { plans, entitlements } = nobodyHas(client, offer);
    const gone = [...plans.map((id) => `plan ${id}`), ...entitlements];
    const all = [...(client.required_plans ?? []), ...(client.required_entitlements ?? [])];
    return gone.length === 0 ? [] : [{ id: client.client_id, gone, shut: gone.length === all.length }];
  });
  const named = (some: typeof asked) => some.map(({ id, gone }) => `${id} (${gone.join(', ')})`).join('; ');
  const [shut, partly] = [asked.filter((one) => one.shut), asked.filter((one) => !one.shut)];
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

/** Nothing, where the catalogue cannot be read: `plans.file` says so. */
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
