package dataflow_test
import ("testing";"pgregory.net/rapid";"strings";"fmt";"sort")
func TestZZ(t *testing.T){
 cnt:=map[string]int{}; bad:=0; seeds:=0; ref:=0; regs:=0; ph:=0; seedsum:=0
 for s:=range 1000 {
  rapid.Custom(func(t *rapid.T) int {
   text:=drawProgram(t); v:=values{g:drawGraph(t)}
   p:=parse(text)
   for v.seed=1;;v.seed++ { _,all:=oracle(p,v); if tame(all,v.g){break}; if v.seed==12{bad++;break}}
   seedsum+=int(v.seed)
   seeds++
   for _,l:=range strings.Split(text,"\n"){ f:=strings.Fields(l); if len(f)>2&&f[1]=="="{cnt[f[2]]++}}
   func(){ defer func(){ if r:=recover();r!=nil{ref++; if ref<3 {fmt.Println(text,r)}}}()
   m,_,err:=p.compile(nil,"",nil); if err!=nil{ref++;return}
   regs+=len(m.Regions); ph+=len(m.Spec.Phases) }()
   return 0
  }).Example(s)
 }
 fmt.Println("bad",bad,"seeds",seedsum,"panics",ref,"regions",regs,"phases",ph)
 var k []string; for n:=range cnt{k=append(k,n)}; sort.Strings(k); for _,n:=range k{fmt.Print(n,"=",cnt[n]," ")}
 fmt.Println()
}
