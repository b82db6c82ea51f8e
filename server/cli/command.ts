import { type Command, InvalidArgumentError, Option } from 'commander';
import { type Context, withContext } from './context.ts';
import { type CliIo, printResult, type Result } from './io.ts';
import { runRecorded } from './record-command.ts';

/** The result, or a function that gets it from the stores of the configuration, which are open only while it runs. */
type Outcome = Result | Promise<Result> | ((context: Context) => Promise<Result>);

export interface CommandSpec {
  description: string;
  args?: [name: string, description: string][];
  /** Those besides `--json`. */
  options?: (Option | [flags: string, description: string, initial?: string])[];
  /** Describes the output of `--json`. */
  json: string;
  /** The text after the options. */
  help: string;
  /** Gets the arguments, then the options. An error that it throws itself comes before any store is opened. */
  run(...input: Parameters<Parameters<Command['action']>[0]>): Outcome | Promise<Outcome>;
}

/** Adds a command. */
export type AddCommand = (name: string, spec: CommandSpec) => void;

export interface Program {
  io: CliIo;
  add: AddCommand;
  /** Adds a group of commands: `foyer <group> <command>`. */
  group(name: string, description: string): AddCommand;
}

/** `user disable`: the names of a command and its group. */
const path = (command: Command): string =>
  [command.parent?.parent ? command.parent.name() : undefined, command.name()].filter(Boolean).join(' ');

export function createProgram(root: Command, io: CliIo): Program {
  const adder =
    (parent: Command): AddCommand =>
    (name, { description, args = [], options = [], json, help, run }) => {
      const command = parent.command(name).description(description);
      for (const [flags, text] of args) command.argument(flags, text);
      for (const option of options) {
        if (option instanceof Option) command.addOption(option);
        else command.option(...option);
      }
      command
        .option('--json', json)
        .addHelpText('after', help)
        .action(async (...input) => {
          const outcome = await run(...input);
          const result =
            typeof outcome === 'function'
              ? await withContext(io, (context) => runRecorded(context, path(command), () => outcome(context)))
              : outcome;
          printResult(io, result, command.opts().json === true);
          if (result.error) throw result.error;
        });
    };
  return { io, add: adder(root), group: (name, description) => adder(root.command(name).description(description)) };
}

/** For an option with a whole number. */
export const parseNumber =
  (min: number, max: number) =>
  (text: string): number => {
    const value = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
    if (value >= min && value <= max) return value;
    throw new InvalidArgumentError(`Write a whole number from ${min} to ${max}.`);
  };
