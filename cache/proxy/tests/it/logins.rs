//! Ways to log in without TLS, which pass through unseen.

use crate::world::{Said, World, psql, run};

fn login(world: &World, user: &str, password: &str) -> Said {
    let url = world.url().replace("postgres@", &format!("{user}:{password}@"));
    psql(&url, &["-c", "SELECT current_user"])
}

#[test]
fn every_kind_of_login_passes_through() {
    let Some(world) = World::start() else { return };
    world.admin("SET password_encryption = 'md5'; CREATE ROLE old LOGIN PASSWORD 'secret'");
    world.admin("SET password_encryption = 'scram-sha-256'; CREATE ROLE new LOGIN PASSWORD 'secret'");
    world.admin("CREATE ROLE plain LOGIN PASSWORD 'secret'; CREATE ROLE trusted LOGIN");
    world.set_logins(
        "host all postgres all trust\nhost all trusted all trust\nhost all old all md5\n\
         host all new all scram-sha-256\nhost all plain all password",
    );
    for user in ["old", "new", "plain", "trusted"] {
        assert_eq!(login(&world, user, "secret").expect_success().trim(), user);
    }
    for user in ["old", "new", "plain"] {
        let refused = login(&world, user, "wrong");
        assert!(refused.stderr.contains("password authentication failed"), "{refused:?}");
    }
    let refused = login(&world, "stranger", "secret");
    assert!(refused.stderr.contains("no pg_hba.conf entry"), "{refused:?}");
}

/// Channel binding needs TLS from end to end: the client refuses, as it does without a proxy.
#[test]
fn binding_without_encryption_is_refused_by_the_client() {
    let Some(world) = World::start() else { return };
    world.admin("CREATE ROLE new LOGIN PASSWORD 'secret'");
    world.set_logins("host all postgres all trust\nhost all new all scram-sha-256");
    for url in [world.url(), world.direct()] {
        let url = url.replace("postgres@", "new:secret@") + "?channel_binding=require";
        let refused = run("psql", &["-X", &url, "-c", "SELECT 1"], &[], "");
        assert!(refused.stderr.contains("channel binding"), "{refused:?}");
    }
}
