import { parseRedisAddress } from '../../server/store/redis-address.ts';

describe('Redis addresses', () => {
  it('An address can name one server', () => {
    expect(parseRedisAddress('redis://localhost')).toMatchObject({
      host: 'localhost',
      port: 6379,
      db: 0,
      keyPrefix: 'foyer:',
    });
    expect(parseRedisAddress('redis://10.0.0.7:6380/3')).toMatchObject({ host: '10.0.0.7', port: 6380, db: 3 });
    expect(parseRedisAddress('redis://[::1]:6380?db=2')).toMatchObject({ host: '::1', port: 6380, db: 2 });
    expect(parseRedisAddress('redis://localhost').tls).toBeUndefined();
  });

  it('An address can contain user and password, encoded where needed', () => {
    expect(parseRedisAddress('redis://:p%40ss%3Aw%2Frd@h')).toMatchObject({ password: 'p@ss:w/rd' });
    expect(parseRedisAddress('redis://foyer:secret@h')).toMatchObject({ username: 'foyer', password: 'secret' });
    expect(parseRedisAddress('redis://:secret@h')).not.toHaveProperty('username');
  });

  it('An address can set another prefix, so that two installations can share a server', () => {
    expect(parseRedisAddress('redis://h?prefix=staging:')).toMatchObject({ keyPrefix: 'staging:' });
  });

  it('An address with TLS checks the name of the server', () => {
    expect(parseRedisAddress('rediss://cache.example.com:6380')).toMatchObject({
      host: 'cache.example.com',
      tls: { servername: 'cache.example.com' },
    });
  });

  it('An address can name sentinels', () => {
    expect(
      parseRedisAddress('redis+sentinel://:pw@h1:26379,h2,h3:5000/NAME/4?sentinelPassword=other&prefix=x:'),
    ).toEqual({
      name: 'NAME',
      sentinels: [
        { host: 'h1', port: 26_379 },
        { host: 'h2', port: 26_379 },
        { host: 'h3', port: 5000 },
      ],
      password: 'pw',
      sentinelUsername: undefined,
      sentinelPassword: 'other',
      db: 4,
      keyPrefix: 'x:',
    });
    expect(parseRedisAddress('redis+sentinel://h1/NAME?db=1')).toMatchObject({ db: 1, name: 'NAME' });
    expect(parseRedisAddress('rediss+sentinel://h1/NAME')).toMatchObject({ tls: {}, enableTLSForSentinelMode: true });
  });

  it.each([
    '',
    'localhost:6379',
    'http://localhost',
    'redis://',
    'redis://a,b',
    'redis://h:port',
    'redis://h/name',
    'redis+sentinel://h1,h2',
    'redis+sentinel://h1,/NAME',
  ])('The address %p is refused', (url) => {
    expect(() => parseRedisAddress(url)).toThrow(TypeError);
  });

  it('An error never repeats the password', () => {
    for (const url of [
      'redis://:hunter2@',
      'redis://:hunter2@h:x',
      'http://:hunter2@h',
      'redis+sentinel://:hunter2@h',
    ]) {
      expect(() => parseRedisAddress(url)).toThrow(
        expect.not.objectContaining({ message: expect.stringContaining('hunter2') }),
      );
    }
  });
});
