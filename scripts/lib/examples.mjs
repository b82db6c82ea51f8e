/** The examples, each with its registration, as in its README. */

/**
 * @typedef {object} Example
 * @property {string} id its client id
 * @property {string} title
 * @property {string} script under examples/
 * @property {number} [port] its port on 127.0.0.1, unless PORT is set; none: it is no server
 * @property {(url: string) => string[]} registration options of `foyer client add`; `url` is the address of the example
 */

/** @type {Readonly<Record<string, Example>>} */
export const examples = {
  express: {
    id: 'express-example',
    title: 'Express example',
    script: 'express-app/app.mjs',
    port: 4000,
    registration: (url) => [
      ...['--redirect-uri', `${url}/callback`, '--logout-uri', `${url}/`, '--logback-uri', `${url}/sign-in`],
      ...['--backchannel-logout-uri', `${url}/backchannel-logout`],
    ],
  },
  browser: {
    id: 'browser-example',
    title: 'Browser example',
    script: 'browser-app/serve.mjs',
    port: 4100,
    registration: (url) => [
      ...['--public', '--redirect-uri', `${url}/`, '--logout-uri', `${url}/`, '--logback-uri', `${url}/`],
    ],
  },
  passport: {
    id: 'passport-example',
    title: 'Passport example',
    script: 'passport-app/app.mjs',
    port: 4200,
    registration: (url) => [
      ...['--redirect-uri', `${url}/callback`, '--logout-uri', `${url}/`, '--logback-uri', `${url}/sign-in`],
    ],
  },
  device: {
    id: 'device-example',
    title: 'Device example',
    script: 'device-app/device.mjs',
    // The dashboard cannot open it.
    registration: () => ['--public', '--device', '--hidden'],
  },
};
