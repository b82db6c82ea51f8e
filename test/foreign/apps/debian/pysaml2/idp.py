"""An identity provider with pysaml2, which signs, encrypts and verifies by xmlsec1: the library, and a form."""
import html
import json
import os
import secrets
from http.cookies import SimpleCookie
from http.server import BaseHTTPRequestHandler, HTTPServer
from urllib.parse import parse_qsl, urlencode, urlsplit

from saml2 import BINDING_HTTP_POST, BINDING_HTTP_REDIRECT
from saml2.authn_context import PASSWORDPROTECTEDTRANSPORT
from saml2.config import IdPConfig
from saml2.metadata import entity_descriptor
from saml2.saml import NAME_FORMAT_URI, NAMEID_FORMAT_PERSISTENT
from saml2.samlp import NameIDPolicy
from saml2.server import Server
from saml2.sigver import get_pem_wrapped_unwrapped, make_temp, pre_encryption_part, verify_redirect_signature

URL = os.environ['APP_URL']
FOLDER = os.path.dirname(os.path.abspath(__file__))
HOSTED = json.loads(os.environ['HOSTED'])
#: Settings of this program, which the library has not.
WANTS_SIGNATURE = HOSTED.get('wants_redirect_signature', False)
CIPHER = HOSTED.get('cipher')
LOGOUT_BINDING = BINDING_HTTP_POST if HOSTED.get('logout_by_post') else BINDING_HTTP_REDIRECT
FORMAT = HOSTED.get('name_id_format', NAMEID_FORMAT_PERSISTENT)
PERSON = {'mail': [os.environ['MAIL']], 'givenName': ['Ada'], 'sn': ['Lovelace'], 'employeeNumber': ['4711']}
COOKIE = f'pysaml2-{os.environ["PORT"]}'


def configure(service_provider=None):
    both = lambda path: [(URL + path, binding) for binding in (BINDING_HTTP_REDIRECT, BINDING_HTTP_POST)]
    return IdPConfig().load({
        'entityid': f'{URL}/metadata',
        'xmlsec_binary': '/usr/bin/xmlsec1',
        'key_file': f'{FOLDER}/server.pem',
        'cert_file': f'{FOLDER}/server.crt',
        **({'metadata': {'local': [service_provider]}} if service_provider else {}),
        'service': {
            'idp': {
                'endpoints': {'single_sign_on_service': both('/sso'), 'single_logout_service': both('/logout')},
                'name_id_format': [FORMAT],
                'policy': {'default': {'lifetime': {'minutes': 15}, 'name_form': NAME_FORMAT_URI}},
                'subject_data': ('dict', None),
                **HOSTED.get('idp', {}),
            },
        },
    })


class Provider(Server):
    def _encrypt_assertion(self, encrypt_cert, sp_entity_id, response, node_xpath=None):
        """The library encrypts with triple DES, and has no setting for another cipher."""
        if CIPHER is None:
            return super()._encrypt_assertion(encrypt_cert, sp_entity_id, response, node_xpath)
        wrapped, bare = get_pem_wrapped_unwrapped(self.metadata.certs(sp_entity_id, 'any', 'encryption')[0])
        certificate = make_temp(wrapped.encode(), decode=False)
        template = pre_encryption_part(msg_enc=CIPHER['algorithm'], encrypt_cert=bare)
        return self.sec.encrypt_assertion(response, certificate.name, template, CIPHER['key'], node_xpath)


PROVIDERS = []
REQUESTS = {}
#: By the value of the cookie: the NameID and the index of the session at the service.
SESSIONS = {}


def provider():
    if not PROVIDERS:
        PROVIDERS.append(Provider(config=configure(f'{FOLDER}/service-provider.xml')))
    return PROVIDERS[0]


def service():
    return provider().metadata.with_descriptor('spsso').popitem()[0]


class Refusal(Exception):
    pass


def require_signature(fields):
    """The library leaves the signature of the redirect binding to its caller."""
    backend = provider().sec.sec_backend
    keys = provider().metadata.certs(service(), 'any', 'signing')
    if 'Signature' not in fields or not any(verify_redirect_signature(fields, backend, key) for key in keys):
        raise Refusal('the signature of the message is not good')


def log_out_at_service(session, return_to):
    idp = provider()
    name_id, index = session
    address = next(iter(idp.metadata.single_logout_service(service(), LOGOUT_BINDING, 'spsso')))['location']
    by_post = LOGOUT_BINDING == BINDING_HTTP_POST
    _, request = idp.create_logout_request(address, service(), name_id=name_id, session_indexes=[index], sign=by_post)
    return idp.apply_binding(LOGOUT_BINDING, str(request), address, return_to, sign=not by_post)


class Handler(BaseHTTPRequestHandler):
    def fields(self):
        length = int(self.headers.get('Content-Length') or 0)
        return dict(parse_qsl(self.rfile.read(length).decode() if length else urlsplit(self.path).query))

    def cookie(self):
        cookies = SimpleCookie(self.headers.get('Cookie', ''))
        return cookies[COOKIE].value if COOKIE in cookies else ''

    def send(self, status, body, headers=()):
        self.send_response(status)
        for name, value in headers:
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body if isinstance(body, bytes) else str(body).encode())

    def send_page(self, body, headers=()):
        self.send(200, body, [('Content-Type', 'text/html; charset=utf-8'), *headers])

    def send_message(self, message, headers=()):
        """A message of the library: an address to go to, or a page that posts it."""
        if message['method'] == 'POST':
            return self.send_page(message['data'], headers)
        return self.send(303, '', [*message['headers'], *headers])

    def sign_on(self, fields):
        binding = BINDING_HTTP_POST if self.command == 'POST' else BINDING_HTTP_REDIRECT
        request = provider().parse_authn_request(fields['SAMLRequest'], binding)
        if binding == BINDING_HTTP_REDIRECT and WANTS_SIGNATURE:
            require_signature(fields)
        answer = provider().response_args(request.message, [BINDING_HTTP_POST])
        self.ask(answer, fields.get('RelayState', ''), request.message.force_authn == 'true')

    def ask(self, answer, relay_state, again=False):
        if self.cookie() in SESSIONS and not again:
            return self.answer(answer, relay_state)
        key = secrets.token_hex()
        REQUESTS[key] = (answer, relay_state)
        self.send(303, '', [('Location', f'{URL}/sign-in?{urlencode({"request": key})}')])

    def sign_in(self, fields):
        if fields.get('username') == 'ada' and fields.get('password') == 'secret':
            return self.answer(*REQUESTS.pop(fields['request']))
        key = html.escape(fields['request'])
        hidden = f'<input type="hidden" name="request" value="{key}">'
        self.send_page(f'<form method="post">{hidden}<input name="username"><input name="password"></form>')

    def answer(self, answer, relay_state):
        idp = provider()
        args = {name: value for name, value in answer.items() if name != 'binding'}
        authn = {'class_ref': PASSWORDPROTECTEDTRANSPORT, 'authn_auth': URL}
        # An assertion that is encrypted would be signed with SHA-1 otherwise.
        algorithms = {'sign_alg': idp.signing_algorithm, 'digest_alg': idp.digest_algorithm}
        response = idp.create_authn_response(PERSON, userid='ada', authn=authn, **algorithms, **args)
        assertion, _ = list(idp.session_db.assertion.values())[-1]
        key = self.cookie() or secrets.token_hex()
        SESSIONS[key] = (assertion.subject.name_id, assertion.authn_statement[0].session_index)
        page = idp.apply_binding(BINDING_HTTP_POST, str(response), args['destination'], relay_state, response=True)
        self.send_message(page, [('Set-Cookie', f'{COOKIE}={key}; Path=/')])

    def log_out(self, fields):
        idp = provider()
        require_signature(fields)
        if 'SAMLResponse' in fields:
            idp.parse_logout_request_response(fields['SAMLResponse'], BINDING_HTTP_REDIRECT)
            return self.send(303, '', [('Location', fields['RelayState'])])
        request = idp.parse_logout_request(fields['SAMLRequest'], BINDING_HTTP_REDIRECT)
        SESSIONS.pop(self.cookie(), None)
        args = idp.response_args(request.message, [BINDING_HTTP_REDIRECT])
        response = idp.create_logout_response(request.message, [BINDING_HTTP_REDIRECT], sign=False)
        state = fields.get('RelayState', '')
        self.send_message(idp.apply_binding(
            args['binding'], str(response), args['destination'], state, response=True, sign=True))

    def do_GET(self):
        path = urlsplit(self.path).path
        fields = self.fields()
        try:
            if path == '/metadata':
                self.send(200, str(entity_descriptor(configure())), [('Content-Type', 'application/samlmetadata+xml')])
            elif path == '/sso':
                self.sign_on(fields)
            elif path == '/sign-in':
                self.sign_in(fields)
            elif path == '/logout':
                self.log_out(fields)
            elif path == '/unasked':
                address = provider().metadata.assertion_consumer_service(service(), BINDING_HTTP_POST)[0]['location']
                policy = NameIDPolicy(format=FORMAT)
                answer = {'in_response_to': None, 'destination': address}
                self.ask({**answer, 'sp_entity_id': service(), 'name_id_policy': policy}, '')
            elif path == '/sign-out':
                self.send_message(log_out_at_service(SESSIONS.pop(self.cookie()), fields['ReturnTo']))
            else:
                self.send(404, '')
        except Exception as error:
            self.log_error('%s: %r', path, error)
            self.send(400, f'refused: {type(error).__name__}')

    do_POST = do_GET


HTTPServer(('127.0.0.1', int(os.environ['PORT'])), Handler).serve_forever()
