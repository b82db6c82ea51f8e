/** How the scripts start Jest. */

/**
 * Jest's workers get the options of Node from it. Most of what a test allocates is garbage after the test: with room for that,
 * the collector copies less of it.
 * @param {string[]} args of Jest
 * @returns {string[]} for Node
 */
export const jestArguments = (args) => ['--max-semi-space-size=64', 'node_modules/jest/bin/jest.js', ...args];
