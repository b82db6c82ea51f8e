# Debian's ruby-omniauth-openid-connect: discovery, id, secret and scopes.
require 'json'
require 'rack'
require 'webrick'
require 'rack/handler/webrick'
require 'omniauth'
require 'omniauth_openid_connect'

issuer, url = ENV.fetch('ISSUER'), ENV.fetch('APP_URL')

# The libraries below it demand https of discovery.
SWD.url_builder = URI::HTTP
WebFinger.url_builder = URI::HTTP

site = lambda do |env|
  request = Rack::Request.new(env)
  session = request.session
  case request.path
  when '/sign-in'
    body = "<form method=post action=/auth/openid_connect><input name=authenticity_token value=#{Rack::Protection::AuthenticityToken.token(session)}></form>"
    [200, { 'Content-Type' => 'text/html' }, [body]]
  when '/auth/openid_connect/callback'
    auth = env['omniauth.auth']
    session[:member] = { sub: auth.uid, email: auth.info.email }
    session[:id_token] = auth.credentials.id_token
    [302, { 'Location' => '/me' }, []]
  when '/me'
    member = session[:member]
    [member ? 200 : 401, { 'Content-Type' => 'application/json' }, [JSON.generate(userinfo: member)]]
  when '/sign-out'
    query = Rack::Utils.build_query(id_token_hint: session[:id_token], post_logout_redirect_uri: "#{url}/")
    session.clear
    [302, { 'Location' => "#{issuer}/oauth2/logout?#{query}" }, []]
  when '/auth/failure'
    [401, {}, [request.params.to_s]]
  else
    [200, {}, ['home']]
  end
end

app = Rack::Builder.new do
  use Rack::Session::Cookie, secret: 'a secret of this test that is long enough for every library that may ask for it'
  use OmniAuth::Builder do
    provider :openid_connect,
             issuer: issuer,
             discovery: true,
             scope: %i[openid profile email],
             client_options: {
               identifier: ENV.fetch('CLIENT_ID'),
               secret: ENV.fetch('CLIENT_SECRET'),
               redirect_uri: "#{url}/auth/openid_connect/callback"
             }
  end
  run site
end
Rack::Handler::WEBrick.run(app, Host: '127.0.0.1', Port: ENV.fetch('PORT').to_i)
