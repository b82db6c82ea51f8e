/**
 * The module of the operator's command `foyer`: client apps and resource servers, users and partner deals, signing
 * keys, the outbox, plans and payments, migrations, and the doctor. It opens the same stores as the server with the
 * same configuration, so its changes apply to a running Foyer at once.
 * Owns the command line: its words, its output (standard output has only the result, standard error the rest) and its
 * exit codes. Does not own the rules: those are the modules'.
 */
export type { CliIo } from './io.ts';
export { runCli } from './run.ts';
