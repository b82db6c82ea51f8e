import { encodeFields, type Field, mutateBytes, mutateFields, mutateJson, mutateText, oddJson } from './mutate.ts';
import { addressText, form, type Generate, json, ownPage, query } from './request-parts.ts';
import { sampleOf } from './schema-samples.ts';

const methods = ['GET', 'GET', 'POST', 'POST', 'HEAD', 'PUT', 'DELETE', 'PATCH', 'OPTIONS', 'TRACE', 'PROPFIND'];

/** Any route by any method, with whatever query or body. */
export const anyRoute: Generate = (random, scene) => {
  const route = random.pick(scene.routes);
  const path = route.path.replaceAll(/\bx\b/g, () =>
    encodeURIComponent(mutateText(random, random.pick(scene.ids)).toWellFormed()),
  );
  const method = random.oneIn(3) && route.methods.length > 0 ? random.pick(route.methods) : random.pick(methods);
  const fields = mutateFields(random, [
    ['redirect', '/settings'],
    ['state', 'a'],
    ['authorization_code', random.pick(scene.ids)],
    ['notice', 'a'],
  ]);
  const actor = random.pick(scene.actors);
  const headers = { ...ownPage(scene), ...(random.oneIn(2) && { cookie: actor.cookie }) };
  if (method === 'GET' || method === 'HEAD')
    return { method, path: addressText(path) + query(random, fields), headers };
  const type = random.pick([
    form,
    json,
    'text/plain',
    'multipart/form-data; boundary=a',
    `${form}; charset=utf-16`,
    'application/xml',
  ]);
  return {
    method,
    path: addressText(path),
    headers: { ...headers, 'content-type': type },
    body: encodeFields(random, fields),
  };
};

/** A form that a page showed to this browser, with changed fields. */
export const shownForm: Generate = (random, scene) => {
  const actor = random.pick(scene.actors.filter(({ forms }) => forms.length > 0));
  const { action, method, fields } = random.pick(actor.forms);
  const { pathname, search } = new URL(action);
  const body = encodeFields(random, mutateFields(random, fields));
  const headers = { ...ownPage(scene), cookie: actor.cookie };
  if (method === 'GET') return { method, path: addressText(`${pathname}?${body}`), headers };
  return { method, path: addressText(pathname + search), headers: { ...headers, 'content-type': form }, body };
};

/** An operation of the OpenAPI document, with a body and parameters of the right or a wrong shape. */
export const operation: Generate = (random, scene) => {
  const { method, path, parameters, schema } = random.pick(scene.operations);
  const value = (name: string) => (random.oneIn(2) ? random.pick(scene.ids) : mutateText(random, name));
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(value(name).toWellFormed()));
  const caller: Record<string, string>[] = [
    ...scene.apps.authorizations.map((authorization) => ({ authorization })),
    { cookie: random.pick(scene.actors).cookie },
    {},
  ];
  const headers: Record<string, string> = { ...ownPage(scene), accept: json, ...random.pick(caller) };
  const names = parameters.map((name): Field => [name, value(name)]);
  const address = addressText(filled) + (names.length > 0 ? query(random, names) : '');
  if (schema === undefined) return { method, path: address, headers };
  const sample = sampleOf(random, schema);
  const text = JSON.stringify(random.oneIn(4) ? sample : mutateJson(random, sample)) ?? 'null';
  const body = random.oneIn(20) ? mutateBytes(random, Buffer.from(text)) : text;
  return { method, path: address, headers: { ...headers, 'content-type': json }, body };
};

/** JSON that no parser expects, to everything that reads JSON. */
export const rawJson: Generate = (random, scene) => {
  const path = random.oneIn(2)
    ? random.pick(scene.operations).path.replaceAll(/\{\w+\}/g, 'x')
    : random.pick(['/storage', '/graphql', '/sign-in']);
  const text = JSON.stringify(oddJson(random)) ?? '';
  const body = random.oneIn(2) ? mutateBytes(random, Buffer.from(text)) : Buffer.from(text);
  const authorization = random.pick(scene.apps.authorizations);
  return {
    method: 'POST',
    path,
    headers: { ...ownPage(scene), 'content-type': json, accept: json, authorization },
    body,
  };
};
