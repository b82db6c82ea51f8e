/** The settings of a server without the sandbox, which asks nothing outside of this machine. */
export const withoutSandbox = (dataDir: string): Record<string, string> => ({
  NODE_ENV: 'test',
  SANDBOX: 'false',
  SEARCH_APP_URL: 'http://127.0.0.1:9/search',
  SECRET_KEY: 'a secret key that is used by tests alone',
  DATA_DIR: dataDir,
});
