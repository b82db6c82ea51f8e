import { loadConfig } from '../../config/load.ts';
import { checkConfiguration } from '../../server/cli/doctor/checks-host.ts';
import { readSetup } from '../../server/cli/doctor/setup.ts';
import { loadSettings } from '../../server/load-settings.ts';

const development = { NODE_ENV: 'development' };

describe('limits of single calls', () => {
  it('API_LIMIT_CALLS is a list of calls with their numbers', () => {
    const { API_LIMIT_CALLS: limits } = loadConfig({ ...development, API_LIMIT_CALLS: 'signUp=60, listClients=600' });
    expect(limits).toEqual(
      new Map([
        ['signUp', 60],
        ['listClients', 600],
      ]),
    );
  });

  it.each(['signUp', 'signUp=0', 'signUp=-1', 'signUp=1.5', 'signUp=1000000', 'signUp=1,signUp=2', 'signUp=1,', '=3'])(
    'The configuration refuses API_LIMIT_CALLS=%s',
    (text) => {
      expect(() => loadConfig({ ...development, API_LIMIT_CALLS: text })).toThrow(/API_LIMIT_CALLS/);
    },
  );

  it.each(['listUser', '__proto__', 'toString', 'apiCall'])(
    'A start and the doctor name the call %s, which does not exist',
    (name) => {
      const environment = { ...development, API_LIMIT_CALLS: `signUp=60,${name}=5` };
      expect(() => loadSettings(environment)).toThrow(/there is no call|write call=number/);
      const findings = checkConfiguration(readSetup(environment, Date.now));
      const named = findings.filter(({ level, seen }) => level === 'fault' && seen.includes('API_LIMIT_CALLS'));
      expect(named).toHaveLength(1);
    },
  );
});
