import { Command } from 'commander';
import { inspectConfig } from '../../config/load.ts';
import { setOutgoingProxy } from '../outgoing-proxy.ts';
import { auditCommands } from './audit.ts';
import { backupCommand } from './backup/backup.ts';
import { restoreCommand } from './backup/restore.ts';
import { billingCommands } from './billing.ts';
import { clientCommands } from './clients.ts';
import { createProgram } from './command.ts';
import { doctorCommand } from './doctor.ts';
import { exitCodes, exitCodesHelp, explain } from './errors.ts';
import { giftCommands } from './gifts.ts';
import type { CliIo } from './io.ts';
import { keyCommands } from './keys.ts';
import { mailCommands } from './mail.ts';
import { migrateCommand } from './migrate.ts';
import { outboxCommands } from './outbox.ts';
import { partnerDealCommands } from './partner-deals.ts';
import { planCommands } from './plans.ts';
import { providerCommands } from './providers.ts';
import { resourceCommands } from './resources.ts';
import { smsCommands } from './sms.ts';
import { userCommands } from './users.ts';

/** In the order of the help. */
const commands = [
  ...[
    clientCommands,
    userCommands,
    resourceCommands,
    partnerDealCommands,
    giftCommands,
    planCommands,
    providerCommands,
  ],
  ...[billingCommands, outboxCommands, auditCommands, keyCommands, mailCommands, smsCommands, migrateCommand],
  ...[backupCommand, restoreCommand, doctorCommand],
];

/** The whole command line; docs/commands.md is written from its help. */
export function createFoyer(io: CliIo): Command {
  const foyer = new Command('foyer');
  foyer
    .description(
      'Looks after a Foyer: client apps, members, signing keys. What it changes holds for a running Foyer at once.',
    )
    .exitOverride()
    .configureOutput({ writeOut: (text) => io.stdout.write(text), writeErr: (text) => io.stderr.write(text) })
    .showHelpAfterError('(add --help to see how the command is used)')
    .addHelpText(
      'afterAll',
      `${exitCodesHelp}\n\nThe configuration is the server's: the same environment variables (config/example.env).`,
    );
  const program = createProgram(foyer, io);
  for (const addTo of commands) addTo(program);
  return foyer;
}

/**
 * Runs one command line.
 * @param argv without the program's own name: `['client', 'list', '--json']`
 * @returns the exit code, see {@link exitCodes}
 */
export async function runCli(argv: readonly string[], io: CliIo): Promise<number> {
  try {
    setOutgoingProxy(inspectConfig(io.env).config);
    await createFoyer(io).parseAsync(argv, { from: 'user' });
    return exitCodes.done;
  } catch (error) {
    const { exitCode, text } = explain(error);
    if (text !== undefined) io.stderr.write(`${text}\n`);
    return exitCode;
  }
}
