import { CliError, exitCodes } from './errors.ts';

/**
 * Checks required options: all missing ones together, while commander would name the first.
 * @throws {CliError} usage
 */
export function requireOption<T extends object, K extends keyof T>(
  options: T,
  flags: Record<K, string>,
): asserts options is T & { [N in K]-?: NonNullable<T[N]> } {
  const missing = Object.entries<string>(flags).filter(([name]) => Reflect.get(options, name) === undefined);
  if (missing.length === 0) return;
  throw new CliError(
    exitCodes.usage,
    ...missing.map(([, flag]) => `error: required option '${flag}' not specified`),
    '(add --help to see how the command is used)',
  );
}
