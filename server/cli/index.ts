/**
 * The operator's command `foyer`: client apps and resource servers, members and partner deals, signing keys, the outbox,
 * plans and what is paid for them, migrations, and the doctor. It opens the same stores as the server by the same configuration, so what it does holds for
 * a running Foyer at once.
 *
 * Owns the command line: its words, its output (standard output carries the result alone, standard error the rest) and
 * its exit codes. Does not own the rules: those are the rooms'.
 */
export { exitCodes } from './errors.ts';
export type { CliIo } from './io.ts';
export { runCli } from './run.ts';
