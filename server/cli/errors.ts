import { userInfo } from 'node:os';
import { CommanderError } from 'commander';
import { ConfigurationError } from '../../config/load.ts';
import { PlansFileError } from '../../config/plans.ts';
import { ProvidersFileError } from '../../config/providers.ts';
import { InvalidClientRequest } from '../oidc/index.ts';
import { LegalFilesError } from '../sign-in/index.ts';
import { describeUnavailable, StoreUnavailable, UnsealError } from '../store/index.ts';

/** The exit codes. Scripts rely on these numbers; they are in every help text and in docs/operator-guide.md. */
export const exitCodes = { done: 0, refused: 1, usage: 2, notFound: 3, trouble: 4, fault: 70 } as const;
type ExitCode = (typeof exitCodes)[keyof typeof exitCodes];

export const exitCodesHelp = `
Exit codes:
  0  done
  1  refused, or the input has faults (all of them are listed)
  2  the command line is wrong: unknown or missing command, option or argument
  3  there is no such client, member or provider
  4  configuration or store: a variable is wrong, a store does not answer, a migration is pending,
     or \`foyer doctor\` has found a fault
  70 a fault of Foyer itself`;

/** An error without a stack: the operator can repair it. */
export class CliError extends Error {
  override name = 'CliError';
  readonly exitCode: ExitCode;
  constructor(exitCode: ExitCode, ...lines: string[]) {
    super(lines.join('\n'));
    this.exitCode = exitCode;
  }
}

/** The command line is wrong. */
export const usageError = (text: string) => new CliError(exitCodes.usage, `error: ${text}`);

const plural = (faults: readonly string[]) => (faults.length === 1 ? 'Refused:' : `Refused, ${faults.length} faults:`);

/** Invalid input: all faults together. */
export function refused(faults: readonly string[]): CliError {
  return new CliError(exitCodes.refused, plural(faults), ...faults.map((fault) => `  - ${fault}`));
}

/** An unusable folder or file. By shape: Node's own errors may come from another realm than this module. */
function isFileTrouble(error: unknown): error is { message: string } {
  if (typeof error !== 'object' || error === null || !('path' in error && 'code' in error)) return false;
  return typeof error.code === 'string' && /^E[A-Z]+$/.test(error.code);
}

/** The wrapper of docs/production.md changes user and folder: neither is that of the operator's shell. */
const describeFileTrouble = ({ message }: { message: string }): string =>
  `${message}; this command runs as user ${operatingUser()} in ${process.cwd()}`;

/** The name of the user at the operating system; an id without an entry has none. */
export function operatingUser(): string {
  try {
    return userInfo().username;
  } catch {
    return `uid ${process.getuid?.() ?? 'unknown'}`;
  }
}

const trouble = (text: string) => ({ exitCode: exitCodes.trouble, text });

/** The text for standard error, and the exit code; undefined text if commander has already printed it. */
export function explain(error: unknown): { exitCode: ExitCode; text?: string } {
  if (error instanceof CommanderError) return { exitCode: error.exitCode === 0 ? exitCodes.done : exitCodes.usage };
  if (error instanceof CliError) return { exitCode: error.exitCode, text: error.message };
  if (error instanceof InvalidClientRequest) return explain(refused(error.faults));
  for (const kind of [ConfigurationError, LegalFilesError, PlansFileError, ProvidersFileError]) {
    if (error instanceof kind) return trouble(error.message);
  }
  if (error instanceof StoreUnavailable) return trouble(describeUnavailable(error));
  if (error instanceof UnsealError) {
    return trouble(
      'SECRET_KEY does not open what is stored: give this command the same SECRET_KEY as the server. Nothing was changed.',
    );
  }
  if (isFileTrouble(error)) return trouble(describeFileTrouble(error));
  const detail = error instanceof Error ? (error.stack ?? error.message) : String(error);
  return { exitCode: exitCodes.fault, text: `This is a fault of Foyer, not of yours:\n${detail}` };
}
