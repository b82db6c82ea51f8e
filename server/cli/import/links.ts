import type { Transaction } from 'kysely';
import { loadProviders } from '../../../config/providers.ts';
import { writtenProvidersFile } from '../../../config/stand-in-providers.ts';
import { indexProviders, isLinked, type LinkedSubject, linkImported, openStrategies } from '../../federation/index.ts';
import type { DigestSet } from '../../shared/index.ts';
import type { Schema } from '../../store/index.ts';
import type { ImportOutcome } from '../../users/index.ts';
import type { Context } from '../context.ts';
import { refused } from '../errors.ts';
import { type ProviderNames, standardNames } from './read-identities.ts';
import type { ReadMember } from './read-member.ts';

/** A rehearsal changes nothing, and keeps the identities of earlier rows. */
export type LinkTarget = { trx: Transaction<Schema> } | { earlier: DigestSet };

export type WholeRow = Extract<ReadMember, { notes: string[] }>;

/** The identities of users in the file. */
export interface Links {
  names: ProviderNames;
  /**
   * Links those of added users.
   * @param outcomes in the order of the rows
   * @returns by the user's id: the number of identities that are linked to another user
   */
  link(rows: readonly WholeRow[], outcomes: readonly ImportOutcome[], target: LinkTarget): Promise<Map<string, number>>;
}

/** @param pairs NAME=id. @throws {CliError} refused */
export function openLinks({ config, database, io, now }: Context, pairs: readonly string[]): Links {
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
  async function rehearse(subjects: readonly LinkedSubject[], earlier: DigestSet): Promise<number> {
    let count = 0;
    for (const subject of subjects) {
      const text = JSON.stringify(['identity', subject.kind, subject.issuer, subject.subject]);
      if (earlier.has(text) || (await isLinked(database.db, subject))) count += 1;
      earlier.add(text);
    }
    return count;
  }
  return {
    names,
    async link(rows, outcomes, target) {
      const taken = new Map<string, number>();
      for (const [index, { member, identities: subjects }] of rows.entries()) {
        if (subjects.length === 0 || outcomes[index]?.kind !== 'added') continue;
        const links = { userId: member.id, subjects, nowMs: now() };
        const count =
          'trx' in target
            ? (await linkImported(target.trx, providers, links)).length
            : await rehearse(subjects, target.earlier);
        taken.set(member.id, count);
      }
      return taken;
    },
  };
}
