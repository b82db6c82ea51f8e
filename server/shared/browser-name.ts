import Bowser from 'bowser';

/** Longer than the User-Agent of any browser. */
const maxCharacters = 512;
const browsers: ReadonlySet<string> = new Set(Object.values(Bowser.BROWSER_MAP));
const systems: ReadonlySet<string> = new Set(Object.values(Bowser.OS_MAP));

/** The names of a browser and its operating system. */
interface BrowserName {
  browser: string | undefined;
  system: string | undefined;
}

/**
 * Reads a User-Agent. Anyone can send any, so only known names are returned; browsers do not send exact versions and
 * models.
 */
export function readBrowserName(userAgent: string | undefined): BrowserName {
  const agent = (userAgent ?? '').slice(0, maxCharacters);
  if (agent.trim() === '') return { browser: undefined, system: undefined };
  // Without a window it has a name of its own, which the parser does not know.
  const parser = Bowser.getParser(agent.replace('HeadlessChrome/', 'Chrome/'));
  const browser = parser.getBrowserName();
  const system = parser.getOSName();
  return {
    browser: browsers.has(browser) ? browser : undefined,
    system: systems.has(system) ? system : undefined,
  };
}
