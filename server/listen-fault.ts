/** An address on which a process listens. */
export interface ListenPlace {
  port: number;
  host: string;
  /** The variables that set both. */
  variables?: { port: string; host: string };
}

const usualVariables = { port: 'PORT (or SANDBOX_PORT)', host: 'HOST' };

/** The remedy for an address on which this process cannot listen; undefined for another error. */
export function explainListenError(code: string | undefined, { port, host, variables = usualVariables }: ListenPlace) {
  switch (code) {
    case 'EADDRINUSE':
      return `Port ${port} is in use: set ${variables.port} to another one.`;
    case 'EACCES':
      return `Port ${port} needs rights that this user does not have: set ${variables.port} to one from 1024 on, and let the proxy listen on ${port}.`;
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return `${host} is no address of this machine: set ${variables.host} to one, as in 127.0.0.1.`;
    default:
      return undefined;
  }
}
