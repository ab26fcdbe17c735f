package e2e

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"gpu-scheduler.io/tests/cluster/controlplane"
	"gpu-scheduler.io/tests/cluster/fixture"

	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

var (
	serverLine = regexp.MustCompile(`(?m)^(\s*server: ).*$`)
	tokenLine  = regexp.MustCompile(`(?m)^\s*token: "?([^"\s]+)"?$`)
	httpPort   = regexp.MustCompile(`http_port=(\d+)`)
)

// TestNoSecretIsTold: a scheduler that has its token from a kubeconfig, that records, that serves all its pages and that logs all it can, tells that
// token nowhere: not while it works, nor when the API server refuses it. Nor does it tell the tokens of those that ask it, nor what a credential
// plugin gives or complains of. Nor does `kubectl gpu`, with a kubeconfig that is good or broken.
func TestNoSecretIsTold(t *testing.T) {
	if !isGPUScheduler() {
		t.Skip("its flags are gpu-scheduler's own")
	}
	who, err := lent(t).identity()
	if err != nil {
		t.Fatal(err)
	}
	account := strings.Split(who.User, ":") // system:serviceaccount:NAMESPACE:NAME
	kubeconfig, err := lent(t).cluster.TokenKubeconfig(t.Context(), account[2], account[3])
	if err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	found := tokenLine.FindSubmatch(content)
	if found == nil {
		t.Fatal("the kubeconfig has no token")
	}
	secret := string(found[1])
	recording := filepath.Join(t.TempDir(), "recording")
	w := newWorld(t)
	w.addGPUNodes(1)
	port, err := controlplane.FreePort()
	w.must(nil, err)
	s := newSubject(t, "", func(with *setup) {
		with.kubeconfig = kubeconfig
		with.args = append(with.args, "--v=10", "--record", recording, "--flight-recording=64Mi", "--flight-recording-dir", t.TempDir(), fmt.Sprintf("--secure-port=%d", port),
			"--ui", "--answers")
	})
	s.start()
	w.addPod("pod", fixture.GPUs(1))
	w.addPod("waits", fixture.GPUs(99))
	w.waitBinds(1)
	w.waitEvent("pod", "Scheduled")
	told := map[string]string{}
	probes := httpPort.FindStringSubmatch(s.log())
	if probes == nil {
		t.Fatal("the log does not say where pages are served")
	}
	for _, page := range []string{"livez", "readyz?verbose", "metrics", "no-such-page"} {
		_, told[page] = answered(t, fmt.Sprintf("http://127.0.0.1:%s/%s", probes[1], page), "")
	}
	asker := w.token("asker")
	w.letAskAll("asker")
	w.askAllPages(told, fmt.Sprintf("https://127.0.0.1:%d", port), asker, secret)
	good := writeSecret(t, "kubeconfig", strings.Replace(string(content), secret, asker, 1))
	w.askByPlugin(told, good, fmt.Sprintf("https://127.0.0.1:%d", port))
	events, err := w.client.EventsV1().Events(w.ns).List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	written, _ := json.Marshal(events.Items)
	told["events"] = string(written)
	s.process.Signal(syscall.SIGUSR1)
	until(t, "word of the file", func() bool { return writtenLine.MatchString(s.log()) })
	packed, err := os.ReadFile(writtenLine.FindStringSubmatch(s.log())[1])
	if err != nil {
		t.Fatal(err)
	}
	told["recording of the last hour"] = unpacked(t, packed)
	s.stop()
	recorded, err := os.ReadFile(recording)
	if err != nil {
		t.Fatal(err)
	}
	told["recording"] = string(recorded)
	told["log"] = s.log()

	wrong := strings.Replace(string(content), secret, secret+"x", 1)
	r := newSubject(t, "-refused", func(with *setup) {
		with.kubeconfig = writeSecret(t, "refused", wrong)
		with.args = append(with.args, "--v=10")
	})
	r.start()
	until(t, "the API server to refuse it", func() bool { return len(r.logLines("401")) > 0 })
	r.stop()
	told["log of one that is refused"] = r.log()

	refused := brokenPlugins(t, secret)
	refused["a token of several lines"] = "    token: |\n      first\n      " + secret + "\n"
	refused["a token without its last quote"] = "    token: \"" + secret
	key := writeSecret(t, "key", secret) // files are read when they are needed
	refused["a token for a key's file"] = "    client-certificate-data: LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCg==\n    client-key: " + key
	refused["a token for both files"] = "    client-certificate: " + key + "\n    client-key: " + key
	refused["a token's file of several lines"] = "    tokenFile: " + writeSecret(t, "lines", "first\n"+secret+"\n")
	for name, user := range refused {
		p := newSubject(t, fmt.Sprintf("-refused-user-%d", len(told)), func(with *setup) {
			with.kubeconfig = writeSecret(t, "kubeconfig", tokenLine.ReplaceAllLiteralString(string(content), user))
			with.args = append(with.args, "--v=10")
		})
		p.start()
		until(t, "a complaint", func() bool { return len(p.logLines("problem")) > 0 })
		p.kill()
		told["log with "+name] = p.log()
	}

	token := writeSecret(t, "token", secret)
	for _, flag := range []string{"--kubeconfig", "--config"} {
		told[flag] = fails(t, s.program, flag, token, "--v=10")
	}
	broken := map[string]string{} // kubeconfigs
	withUsers := func(users map[string]string) {
		for name, user := range users {
			broken[name] = writeSecret(t, "broken", tokenLine.ReplaceAllLiteralString(string(content), user))
		}
	}
	withUsers(brokenUsers(secret))
	for _, server := range []string{"https://admin:" + secret + "@127.0.0.1:1", "https://127.0.0.1:1/?token=" + secret, secret} {
		broken["the server "+server[:12]] = writeSecret(t, "broken", serverLine.ReplaceAllString(string(content), "${1}"+server))
	}
	for name, kubeconfig := range broken {
		told["a kubeconfig with "+name] = fails(t, s.program, "--kubeconfig", kubeconfig, "--v=10")
	}
	withUsers(refused)
	withUsers(map[string]string{"a token that is refused": "    token: " + secret + "x"})
	plugin := programBeside(t, "kubectl-gpu")
	for name, kubeconfig := range broken {
		for _, args := range [][]string{{}, {"why", "pod/waits"}, {"ui"}} {
			told[fmt.Sprintf("kubectl gpu %v with %s", args, name)] = fails(t, plugin, append(args, "--kubeconfig", kubeconfig)...)
		}
	}
	told["kubectl gpu with a token for a kubeconfig"] = fails(t, plugin, "--kubeconfig", token)
	told["kubectl gpu with a token for a configuration"] = fails(t, plugin, "--kubeconfig", good, "--config", token)
	told["kubectl gpu with a token for a cluster"] = fails(t, plugin, "--from", token)

	for where, text := range told {
		if text == "" {
			t.Errorf("%s: nothing was told", where)
		}
		for whose, token := range map[string]string{"its": secret, "the asker's": asker} {
			// A token's begin is the same for all of an API server.
			if strings.Contains(text, token[len(token)-40:]) || strings.Contains(text, token[len(token)/2:len(token)/2+40]) {
				t.Errorf("%s: %s token is told", where, whose)
			}
		}
	}
	t.Logf("%d texts were read", len(told))
}

// brokenUsers are users of a kubeconfig that cannot be read, each with the secret in it.
func brokenUsers(secret string) map[string]string {
	return map[string]string{
		"a token that is a list":    "    token: [" + secret + "]",
		"a token that is a map":     "    token: {" + secret + ": x}",
		"a token twice":             "    token: " + secret + "\n    token: " + secret + "x",
		"a token that is an anchor": "    token: *" + secret,
		"a token for a certificate": "    client-certificate-data: " + secret + "\n    client-key-data: " + secret,
		"a token for a key":         "    client-certificate-data: LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCg==\n    client-key-data: " + secret,
		"a token for a plugin":      "    exec: " + secret,
		"a token for a line":        "    " + secret,
	}
}

// brokenPlugins are users of a kubeconfig with a credential plugin that has the secret and does not do.
func brokenPlugins(t *testing.T, secret string) map[string]string {
	users := map[string]string{}
	for name, script := range map[string]string{
		"a plugin that gives a token that is refused": `echo '{"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential","status":{"token":"` + secret + `x"}}'`,
		"a plugin that complains with the token":      "echo 'no session for " + secret + "' >&2; exit 1",
		"a plugin that gives what is no credential":   "echo '" + secret + "'",
		"a plugin that is given the token, and fails": "exit 1",
	} {
		plugin := writeSecret(t, "plugin", "#!/bin/sh\n"+script+"\n")
		if err := os.Chmod(plugin, 0o700); err != nil {
			t.Fatal(err)
		}
		users[name] = "    exec: {apiVersion: client.authentication.k8s.io/v1, command: " + plugin + ", interactiveMode: Never, " +
			"args: ['--token=" + secret + "'], env: [{name: TOKEN, value: " + secret + "}]}"
	}
	return users
}

// letAskAll gives an account of the test's namespace the right to all of the scheduler's pages, and returns when the API server knows: the scheduler
// remembers a no for ten seconds.
func (w *world) letAskAll(account string) {
	w.t.Helper()
	w.letReadMetrics(account)
	for _, role := range []string{"explainer", "ui", "recording-reader", "reader"} {
		w.bindClusterRole("gpu-scheduler-"+role, account)
	}
	needed := []authorizationv1.SubjectAccessReviewSpec{
		{ResourceAttributes: &authorizationv1.ResourceAttributes{Verb: "list", Resource: "nodes"}},
		{ResourceAttributes: &authorizationv1.ResourceAttributes{Verb: "get", Resource: "pods"}},
	}
	for _, page := range []string{"/metrics", "/explain", "/candidates", "/ui", "/debug/recording"} {
		needed = append(needed, authorizationv1.SubjectAccessReviewSpec{
			NonResourceAttributes: &authorizationv1.NonResourceAttributes{Path: page, Verb: "get"}})
	}
	for _, spec := range needed {
		spec.User = "system:serviceaccount:" + w.ns + ":" + account
		until(w.t, "the API server to know the roles", func() bool {
			review, err := w.client.AuthorizationV1().SubjectAccessReviews().Create(w.t.Context(),
				&authorizationv1.SubjectAccessReview{Spec: spec}, metav1.CreateOptions{})
			return err == nil && review.Status.Allowed
		})
	}
}

// askAllPages asks for each page, and for some that there are not, with the token of an account that may get all, and with the scheduler's own.
func (w *world) askAllPages(told map[string]string, server, asker, own string) {
	w.t.Helper()
	of := "?namespace=" + w.ns
	for page, want := range map[string]int{
		"/metrics": http.StatusOK, "/debug/recording": http.StatusOK,
		"/explain" + of + "&pod=waits": http.StatusOK, "/candidates" + of + "&pod=waits": http.StatusOK,
		"/ui/": http.StatusOK, "/ui/state": http.StatusOK, "/ui/app.js": http.StatusOK, "/ui/what-if?gpus=1": http.StatusOK,
		"/ui/why" + of + "&pod=waits": http.StatusOK, "/ui/node?node=" + w.ns + "-0": http.StatusOK,
		"/answers/overview": http.StatusOK, "/answers/why" + of + "&pod=waits": http.StatusOK,
		"/answers/queue" + of: http.StatusOK, "/answers/quota" + of: http.StatusOK,
		"/explain": http.StatusBadRequest, "/ui/why": http.StatusBadRequest, "/ui/what-if?manifest=kind": http.StatusBadRequest,
		"/answers/why": http.StatusBadRequest, "/answers": http.StatusNotFound, "/ui/no-such-part": http.StatusNotFound,
		"/no-such-page": http.StatusNotFound,
	} {
		status, text := answered(w.t, server+page, asker)
		if status != want {
			w.t.Errorf("%s: %d, want %d: %.300s", page, status, want, text)
		}
		told["secure "+page] = text
		_, told["secure "+page+" with its own token"] = answered(w.t, server+page, own)
	}
}

// askByPlugin takes each command of `kubectl gpu`, alone and by asking the scheduler, and its page.
func (w *world) askByPlugin(told map[string]string, kubeconfig, server string) {
	w.t.Helper()
	program := programBeside(w.t, "kubectl-gpu")
	pods := filepath.Join(w.t.TempDir(), "pods.yaml")
	w.must(nil, os.WriteFile(pods, []byte("apiVersion: v1\nkind: Pod\nmetadata: {name: planned}\nspec:\n  schedulerName: "+schedulerName+
		"\n  containers: [{name: main, image: none, resources: {limits: {nvidia.com/gpu: 1}}}]\n"), 0o600))
	by := []string{"--server", server, "--insecure-skip-tls-verify"}
	for _, args := range [][]string{
		{}, {"-o", "json"}, {"why", "pod/waits", "-n", w.ns}, {"why", "pod/waits", "-n", w.ns, "-o", "json"}, {"nodes", "-o", "wide"}, {"queue"}, {"quota"},
		{"plan", "-n", w.ns, "-f", pods},
		append([]string{"why", "pod/waits", "-n", w.ns, "--ask"}, by...),
	} {
		command := exec.CommandContext(w.t.Context(), program, append(args, "--kubeconfig", kubeconfig)...)
		output, err := command.CombinedOutput()
		if err != nil {
			w.t.Errorf("kubectl gpu %v: %v: %s", args, err, output)
		}
		told[fmt.Sprintf("kubectl gpu %v", args)] = string(output)
	}
	told["kubectl gpu why, of no pod"] = fails(w.t, program, "why", "pod/no-such", "-n", w.ns, "--kubeconfig", kubeconfig)
	told["kubectl gpu ui, of no scheduler"] = fails(w.t, program, "ui", "--server", server+"1", "--insecure-skip-tls-verify", "--kubeconfig", kubeconfig)
	told["kubectl gpu ui, of no lease"] = fails(w.t, program, "ui", "--kubeconfig", kubeconfig)
	told["kubectl gpu ui, of a server that proves nothing"] = fails(w.t, program, "ui", "--server", server, "--kubeconfig", kubeconfig)
	told["kubectl gpu nonsense"] = fails(w.t, program, "nonsense", "--kubeconfig", kubeconfig)

	page := exec.CommandContext(w.t.Context(), program, append([]string{"ui", "--kubeconfig", kubeconfig}, by...)...)
	var complaints strings.Builder
	page.Stderr = &complaints
	output, err := page.StdoutPipe()
	w.must(nil, err)
	w.must(nil, page.Start())
	printed := bufio.NewReader(output)
	first, _ := printed.ReadString('\n')
	url := strings.TrimSpace(strings.TrimPrefix(first, "The page: "))
	for part, want := range map[string]int{"": http.StatusOK, "state": http.StatusOK, "why?namespace=" + w.ns + "&pod=waits": http.StatusOK,
		"why": http.StatusBadRequest, "no-such-part": http.StatusNotFound, "../metrics": http.StatusNotFound} {
		status, text := answered(w.t, url+part, "")
		if status != want {
			w.t.Errorf("/ui/%s by kubectl gpu ui: %d, want %d: %.300s", part, status, want, text)
		}
		told["kubectl gpu ui: /ui/"+part] = text
	}
	w.must(nil, page.Process.Signal(syscall.SIGTERM))
	rest, _ := io.ReadAll(printed)
	page.Wait()
	told["kubectl gpu ui"] = first + string(rest) + complaints.String()
}

// answered is an answer with its headers, unpacked.
func answered(t *testing.T, url, token string) (status int, text string) {
	t.Helper()
	client := http.Client{Timeout: waitLimit, Transport: &http.Transport{
		DisableKeepAlives: true, TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	if token != "" {
		request.Header.Set("Authorization", "Bearer "+token)
	}
	answer, err := client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	if bytes.HasPrefix(body, []byte{0x1f, 0x8b}) { // gzip
		body = []byte(unpacked(t, body))
	}
	return answer.StatusCode, fmt.Sprint(answer.Header, string(body))
}

// fails is what a program prints that ends with an error.
func fails(t *testing.T, program string, args ...string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), waitLimit)
	defer cancel()
	output, err := exec.CommandContext(ctx, program, args...).CombinedOutput()
	if err == nil || ctx.Err() != nil {
		t.Errorf("%s %q does not fail: %v", filepath.Base(program), args, ctx.Err())
	}
	return string(output)
}

// writeSecret writes a file for its owner alone, in a folder of its own.
func writeSecret(t *testing.T, name, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}
