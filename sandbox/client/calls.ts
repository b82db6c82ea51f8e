/** Calls from the browser, with the publishable key. */
export interface CallError {
  type: string;
  message: string;
  [name: string]: unknown;
}
export type Answer<T> = { value: T; error?: undefined } | { value?: undefined; error: CallError };

function flatten(value: unknown, name: string, into: URLSearchParams): void {
  if (value === undefined || value === null) return;
  if (typeof value === 'object') {
    for (const [key, inner] of Object.entries(value)) flatten(inner, name === '' ? key : `${name}[${key}]`, into);
  } else into.append(name, String(value));
}

export type Call = <T>(method: 'GET' | 'POST', path: string, params: object) => Promise<Answer<T>>;

export function createCall(origin: string, publishableKey: string): Call {
  return async <T>(method: 'GET' | 'POST', path: string, params: object): Promise<Answer<T>> => {
    const form = new URLSearchParams();
    flatten(params, '', form);
    try {
      const response = await fetch(`${origin}${path}${method === 'GET' ? `?${form}` : ''}`, {
        method,
        headers: { authorization: `Bearer ${publishableKey}` },
        ...(method === 'POST' && { body: form }),
        credentials: 'omit',
      });
      const body = await response.json();
      return response.ok ? { value: body } : { error: body.error };
    } catch {
      return {
        error: {
          type: 'api_connection_error',
          message:
            'We are experiencing issues connecting to our payments provider. Please check your internet connection and try again.',
        },
      };
    }
  };
}
