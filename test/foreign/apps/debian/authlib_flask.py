"""Authlib with Flask, by its documentation: discovery, id, secret, scopes and the line for PKCE."""
import os

from authlib.integrations.flask_client import OAuth
from flask import Flask, redirect, session
from werkzeug.serving import run_simple

ISSUER, APP_URL = os.environ["ISSUER"], os.environ["APP_URL"]
app = Flask(__name__)
app.secret_key = "of this test"
oauth = OAuth(app)
oauth.register(
    "foyer",
    client_id=os.environ["CLIENT_ID"],
    client_secret=os.environ["CLIENT_SECRET"],
    server_metadata_url=f"{ISSUER}/.well-known/openid-configuration",
    client_kwargs={"scope": "openid profile email", "code_challenge_method": "S256"},
)


@app.get("/")
def home():
    return "home"


@app.get("/sign-in")
def sign_in():
    return oauth.foyer.authorize_redirect(f"{APP_URL}/callback")


@app.get("/callback")
def callback():
    token = oauth.foyer.authorize_access_token()
    session["member"] = {
        "claims": {"sub": token["userinfo"]["sub"]},
        "userinfo": {key: oauth.foyer.userinfo(token=token)[key] for key in ("sub", "email")},
    }
    session["token"] = {key: token[key] for key in ("id_token", "refresh_token")}
    return redirect("/me")


@app.get("/me")
def me():
    member = session.get("member")
    return (member, 200) if member else ({}, 401)


@app.get("/refresh")
def refresh():
    client = oauth.foyer._get_oauth_client(**oauth.foyer.load_server_metadata())
    token = client.refresh_token(
        oauth.foyer.server_metadata["token_endpoint"], refresh_token=session["token"]["refresh_token"]
    )
    return {"userinfo": oauth.foyer.userinfo(token=token)}


@app.get("/sign-out")
def sign_out():
    endpoint = oauth.foyer.load_server_metadata()["end_session_endpoint"]
    hint = session["token"]["id_token"]
    session.clear()
    return redirect(f"{endpoint}?id_token_hint={hint}&post_logout_redirect_uri={APP_URL}/")


run_simple("127.0.0.1", int(os.environ["PORT"]), app, threaded=True)
