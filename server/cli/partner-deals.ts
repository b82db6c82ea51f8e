import { readFile } from 'node:fs/promises';
import { parse } from 'csv-parse/sync';
import { offerPartnerDeals } from '../billing/index.ts';
import type { NormalisedEmail } from '../shared/index.ts';
import { importPartnerDeals, isPartnerTier, normaliseEmail, type PartnerTier, partnerTiers } from '../users/index.ts';
import type { Program } from './command.ts';
import type { Context } from './context.ts';
import { refused } from './errors.ts';
import type { Result } from './io.ts';
import { counted } from './text.ts';

type PartnerDealRow = { email: NormalisedEmail; tier: PartnerTier };

/** `2`, or the plan's code `Appsumo-Tier-2`. */
function parseTier(text: string): PartnerTier | undefined {
  const tier = Number(/^(?:appsumo-tier-)?(\d)$/i.exec(text.trim())?.[1]);
  return isPartnerTier(tier) ? tier : undefined;
}

/** Reads the deals of a CSV file with the columns `email` and `tier`; every fault with its line. */
function readDeals(csv: string): { deals: PartnerDealRow[]; faults: string[] } {
  let rows: Record<string, string>[];
  try {
    rows = parse(csv, {
      bom: true,
      columns: (names: string[]) => names.map((name) => name.trim().toLowerCase()),
      skip_empty_lines: true,
      trim: true,
    });
  } catch (error) {
    return { deals: [], faults: [error instanceof Error ? error.message : String(error)] };
  }
  const deals = new Map<string, PartnerDealRow>();
  const faults: string[] = [];
  rows.forEach((row, index) => {
    // The first line names the columns.
    const line = index + 2;
    const [email, tier] = [normaliseEmail(row.email ?? ''), parseTier(row.tier ?? '')];
    if (email === undefined) faults.push(`line ${line}: no e-mail address in the column email`);
    if (tier === undefined) faults.push(`line ${line}: the column tier must say ${partnerTiers.join(', ')}`);
    if (email === undefined || tier === undefined) return;
    const twice = deals.get(email);
    if (twice && twice.tier !== tier) faults.push(`line ${line}: ${email} has tier ${twice.tier} further up`);
    deals.set(email, { email, tier });
  });
  return { deals: [...deals.values()], faults };
}

const maxFaults = 20;

/** Imports all deals of a file, or none if there is a fault. */
async function importDealsFrom({ database, catalogue, now }: Context, file: string): Promise<Result> {
  const csv = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw refused([`${file}: ${error.code === 'ENOENT' ? 'there is no such file' : error.message}`]);
  });
  const { deals, faults } = readDeals(csv);
  if (faults.length > 0) {
    const more = faults.length > maxFaults ? [`and ${faults.length - maxFaults} more`] : [];
    throw refused([...faults.slice(0, maxFaults), ...more]);
  }
  const plans = catalogue();
  const counts = await database.transaction(async (trx) => {
    const imported = await importPartnerDeals(trx, deals, now());
    const emails = deals.map(({ email }) => email);
    return { ...imported, offered: await offerPartnerDeals(trx, emails, { catalogue: plans, nowMs: now() }) };
  });
  return {
    json: counts,
    text: `${counted(counts.added, 'partner deal')} added, ${counts.changed} changed, ${counts.kept} left as they were; ${counted(counts.offered, 'member')} will be asked to confirm theirs.`,
  };
}

export function partnerDealCommands({ group }: Program): void {
  group('partner-deal', 'plans that were bought from a partner')('import', {
    description: 'import the deals of a CSV file, all or none',
    args: [['<file>', 'CSV with the columns email and tier (1 to 3, or Appsumo-Tier-1 to 3)']],
    json: 'print JSON: {"added", "changed", "kept"}',
    help: '\nA deal that a member has taken up stays as it is; importing a file again changes nothing.\n\nExample:\n  foyer partner-deal import deals.csv',
    run: (file: string) => (context) => importDealsFrom(context, file),
  });
}
