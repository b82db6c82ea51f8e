/**
 * The reference of the operator's command for docs/commands.md, from its own help.
 * @typedef {import('commander').Command} Command
 */

/** @param {Command} command @returns {Command[]} the commands that do something, in the order of the help */
const listLeaves = (command) =>
  command.commands.length === 0 ? [command] : command.commands.flatMap((child) => listLeaves(child));

/** @param {Command} command @returns {string} `client add` */
const toWords = (command) => (command.parent?.parent ? `${toWords(command.parent)} ${command.name()}` : command.name());

/** The help with the text after the options, as `--help` prints it. @param {Command} command */
function readHelp(command) {
  let text = '';
  command.configureHelp({ helpWidth: 118 });
  command.configureOutput({ writeOut: (part) => (text += part) });
  command.outputHelp();
  return text.trim();
}

/**
 * @param {Command} foyer the whole command line
 * @returns {string} the page
 */
export function commandReference(foyer) {
  const lines = [
    '# Every command',
    '',
    'Generated from the help of `foyer` by `npm run docs`; a test fails when it is stale. The [operator guide](operator-guide.md)',
    'says what to do when; each command also prints its part with `--help`.',
  ];
  for (const group of foyer.commands) {
    lines.push('', `## ${group.name()}`, '', `${group.description()}`);
    for (const command of listLeaves(group)) {
      const words = toWords(command);
      const heading = command === group ? [] : ['', `### ${words}`];
      lines.push(...heading, '', '```', readHelp(command), '```');
    }
  }
  return `${lines.join('\n')}\n`;
}
