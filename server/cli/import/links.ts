import type { Kysely, Transaction } from 'kysely';
import { loadProviders } from '../../../config/providers.ts';
import { writtenProvidersFile } from '../../../config/stand-in-providers.ts';
import { indexProviders, isLinked, linkImported, openStrategies } from '../../federation/index.ts';
import type { Schema } from '../../store/index.ts';
import type { ImportOutcome } from '../../users/index.ts';
import type { Context } from '../context.ts';
import { refused } from '../errors.ts';
import { type ProviderNames, standardNames } from './read-identities.ts';
import type { ReadMember } from './read-member.ts';

export type WholeRow = Extract<ReadMember, { notes: string[] }>;

interface Linked {
  /** In the order of the rows. */
  outcomes: ImportOutcome[];
  /** By the user's id: the number of identities that are linked to another user. */
  taken: Map<string, number>;
}

/** The identities of users in the file. Only added users get links. */
export interface Links {
  names: ProviderNames;
  make(trx: Transaction<Schema>, rows: readonly WholeRow[], outcomes: ImportOutcome[]): Promise<Linked>;
  /** The same without changes. */
  rehearse(db: Kysely<Schema>, rows: readonly WholeRow[], outcomes: ImportOutcome[]): Promise<Linked>;
}

/** @param pairs NAME=id. @throws {CliError} refused */
export function openLinks({ config, io, now }: Context, pairs: readonly string[]): Links {
  const publicUrl = config.PUBLIC_URL;
  const file = loadProviders(writtenProvidersFile(config), io.env);
  const providers = indexProviders(openStrategies({ publicUrl, config, file, now }));
  const names = new Map(standardNames);
  for (const pair of pairs) {
    const at = pair.indexOf('=');
    const [name, id] = [pair.slice(0, Math.max(0, at)).trim(), pair.slice(at + 1).trim()];
    const found = file.providers.find((one) => one.id === id);
    if (name === '' || !found)
      throw refused([`--provider ${pair}: write NAME=id with the id of a provider in PROVIDERS_FILE`]);
    const issuer = found.kind === 'oidc' ? found.issuer : found.entityId;
    names.set(name, { kind: found.kind, provider: found.id, issuer });
  }
  const added = (rows: readonly WholeRow[], outcomes: readonly ImportOutcome[]) =>
    rows.filter(({ identities }, index) => identities.length > 0 && outcomes[index]?.kind === 'added');
  /** In a rehearsal: subjects that appear further up in the file. */
  const seen = new Set<string>();
  return {
    names,
    async make(trx, rows, outcomes) {
      const taken = new Map<string, number>();
      for (const { member, identities: subjects } of added(rows, outcomes)) {
        const links = { userId: member.id, subjects, nowMs: now() };
        taken.set(member.id, (await linkImported(trx, providers, links)).length);
      }
      return { outcomes, taken };
    },
    async rehearse(db, rows, outcomes) {
      const taken = new Map<string, number>();
      for (const { member, identities } of added(rows, outcomes)) {
        let count = 0;
        for (const subject of identities) {
          const key = JSON.stringify([subject.kind, subject.issuer, subject.subject]);
          if (seen.has(key) || (await isLinked(db, subject))) count += 1;
          seen.add(key);
        }
        taken.set(member.id, count);
      }
      return { outcomes, taken };
    },
  };
}
