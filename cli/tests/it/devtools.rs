//! A browser whose pointer a test moves: the `DevTools` protocol, one message after the other, over a pipe.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

/// Between two messages.
const END: u8 = 0;
/// How long a page may take to appear, on a machine that is busy with other things.
const PATIENCE: Duration = Duration::from_secs(120);

/// A page that is shown.
pub(crate) struct Page {
    browser: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    session: Option<Value>,
    calls: u64,
    complaints: Vec<Value>,
}

impl Page {
    /// Shows `url` in a window of its own, with its own `profile`, and waits until all of it is there.
    pub(crate) fn open(browser: &str, profile: &Path, url: &str) -> Self {
        // The protocol is spoken over the descriptors 3 and 4.
        let mut child = Command::new("sh")
            .args(["-c", "exec \"$0\" \"$@\" 3<&0 4>&1 >/dev/null 2>/dev/null", browser])
            .args(["--headless=new", "--no-sandbox", "--disable-gpu", "--window-size=1360,1800"])
            .arg("--remote-debugging-pipe")
            .arg(format!("--user-data-dir={}", profile.display()))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("there is a shell");
        let (input, output) = (child.stdin.take().expect("piped"), child.stdout.take().expect("piped"));
        let mut page = Self {
            browser: child,
            input,
            output: BufReader::new(output),
            session: None,
            calls: 0,
            complaints: Vec::new(),
        };
        let target = page.call("Target.createTarget", &json!({ "url": url })).expect("a window opens");
        let window = json!({ "targetId": target["targetId"], "flatten": true });
        let attached = page.call("Target.attachToTarget", &window).expect("the window is there");
        page.session = Some(attached["sessionId"].clone());
        // From here on, and for what came before, errors are reported.
        for domain in ["Runtime.enable", "Log.enable"] {
            page.call(domain, &json!({})).expect("a window has a console");
        }
        // Its window first shows an empty page, which is whole at once.
        let whole = json!([url, "complete"]);
        page.wait_for("[location.href, document.readyState]", |state| *state == whole);
        // Pointers are not followed before the first frame is painted.
        let painted =
            "new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(1))))";
        page.wait_for(painted, |frames| *frames == 1);
        page
    }

    /// Waits until `expression` is `wanted` in the page, and returns it.
    pub(crate) fn wait_for(&mut self, expression: &str, wanted: impl Fn(&Value) -> bool) -> Value {
        self.wait(expression, wanted, |_, _| {})
    }

    /// Moves the pointer to a place of the window, and waits until `expression` is `wanted` then. A move that nobody has followed
    /// for a while is made again.
    pub(crate) fn point_at(&mut self, (x, y): (f64, f64), expression: &str, wanted: impl Fn(&Value) -> bool) {
        self.wait(expression, wanted, |page, look| {
            if look % 50 == 0 {
                let aside = if look % 100 == 0 { 0.0 } else { 0.5 };
                let event = json!({ "type": "mouseMoved", "x": x + aside, "y": y });
                page.call("Input.dispatchMouseEvent", &event).expect("a window has a pointer");
            }
        });
    }

    /// Gives the page this width in pixels, and light or dark colours.
    pub(crate) fn look_like(&mut self, width: u32, scheme: &str) {
        let metrics = json!({ "width": width, "height": 900, "deviceScaleFactor": 1, "mobile": false });
        self.call("Emulation.setDeviceMetricsOverride", &metrics).expect("a window has a size");
        let feature = json!({ "features": [{ "name": "prefers-color-scheme", "value": scheme }] });
        self.call("Emulation.setEmulatedMedia", &feature).expect("a page has colours");
    }

    /// Presses and releases a key, such as `Enter`.
    pub(crate) fn press(&mut self, key: &str) {
        let text = if key == "Enter" { "\r" } else { "" };
        let code = match key {
            "Enter" => 13,
            "Tab" => 9,
            "Escape" => 27,
            "End" => 35,
            "ArrowLeft" => 37,
            "ArrowRight" => 39,
            other => panic!("no code is known for {other}"),
        };
        for kind in ["keyDown", "keyUp"] {
            let mut event = json!({ "type": kind, "key": key, "code": key, "windowsVirtualKeyCode": code });
            if kind == "keyDown" && !text.is_empty() {
                event["text"] = json!(text);
            }
            self.call("Input.dispatchKeyEvent", &event).expect("a window has a keyboard");
        }
    }

    /// Taps a place of the window with a finger.
    pub(crate) fn tap(&mut self, (x, y): (f64, f64)) {
        for (kind, points) in [("touchStart", json!([{ "x": x, "y": y }])), ("touchEnd", json!([]))] {
            let event = json!({ "type": kind, "touchPoints": points });
            self.call("Input.dispatchTouchEvent", &event).expect("a window can be touched");
        }
    }

    /// What the page has complained of.
    pub(crate) fn complaints(&self) -> &[Value] {
        &self.complaints
    }

    /// Before each look something is done, which is told its number.
    fn wait(
        &mut self,
        expression: &str,
        wanted: impl Fn(&Value) -> bool,
        mut before: impl FnMut(&mut Self, u32),
    ) -> Value {
        let question = json!({ "expression": expression, "returnByValue": true, "awaitPromise": true });
        let begin = Instant::now();
        for look in 0.. {
            before(self, look);
            // A question that arrives between two pages is refused.
            let answer =
                self.call("Runtime.evaluate", &question).map(|mut answer| answer["result"]["value"].take());
            match answer {
                Ok(value) if wanted(&value) => return value,
                _ => assert!(begin.elapsed() < PATIENCE, "{expression} stays {answer:?}"),
            }
            thread::sleep(Duration::from_millis(20));
        }
        unreachable!("there are always more looks")
    }

    /// Calls `method` and waits for its result, or for its refusal; of the events that come between, complaints are kept.
    fn call(&mut self, method: &str, params: &Value) -> Result<Value, Value> {
        self.calls += 1;
        let mut message = json!({ "id": self.calls, "method": method, "params": params });
        if let Some(session) = &self.session {
            message["sessionId"] = session.clone();
        }
        self.input.write_all(message.to_string().as_bytes()).expect("the browser listens");
        self.input.write_all(&[END]).expect("the browser listens");
        loop {
            let mut answer = Vec::new();
            self.output.read_until(END, &mut answer).expect("the browser answers");
            assert_eq!(answer.pop(), Some(END), "the browser ended during {method}");
            let mut answer: Value = serde_json::from_slice(&answer).expect("messages are JSON");
            let is_complaint = matches!(
                answer["method"].as_str(),
                Some("Runtime.exceptionThrown" | "Runtime.consoleAPICalled" | "Log.entryAdded")
            );
            if is_complaint {
                self.complaints.push(answer["params"].take());
                continue;
            }
            if answer["id"] == self.calls {
                return match answer.get_mut("error") {
                    Some(refusal) => Err(refusal.take()),
                    None => Ok(answer["result"].take()),
                };
            }
        }
    }
}

impl Drop for Page {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.browser.kill();
        let _ = self.browser.wait();
    }
}
