/** How the scripts start Jest. */

/**
 * The options of Node for Jest's workers. Most memory of a test is garbage after it: a larger young generation is
 * collected less often, and less of it is copied.
 * @param {string[]} args of Jest
 * @returns {string[]} for Node
 */
export const jestArguments = (args) => ['--max-semi-space-size=64', 'node_modules/jest/bin/jest.js', ...args];
